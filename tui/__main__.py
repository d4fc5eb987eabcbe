"""``python -m tui`` is ``agent-tui``."""

import sys

from tui.main import main

sys.exit(main())
