"""What holds for all tests: property tests try the same examples every time, so that a red run can be repeated.

``HYPOTHESIS_PROFILE=explore pytest`` looks for new ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
