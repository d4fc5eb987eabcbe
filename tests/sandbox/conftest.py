"""Fixtures of the sandbox's tests."""

from pathlib import Path

import pytest

from sandbox.backends import pick_backend
from tests.sandbox.broker_kit import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


@pytest.fixture
def walls() -> None:
    """The test needs real containment; where the kernel has none it says so by name."""
    found = pick_backend().capabilities()
    if not found.contained:
        pytest.skip(f"no sandbox works here: {found.why}")
