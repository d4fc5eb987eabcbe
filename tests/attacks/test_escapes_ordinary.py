"""The attacks again for a user without any rights; and their number."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.sandbox import ordinary
from tests.sandbox.test_processes import ROOT

ATTACKS = ("attacks/test_escapes.py", "attacks/test_attacks.py", "attacks/test_attacks_network.py")


@pytest.mark.parametrize("name", ATTACKS)
def test_as_an_ordinary_user(name: str) -> None:
    if reason := ordinary.unavailable():
        pytest.skip(f"tests cannot be run as an ordinary user here: {reason}")
    done = ordinary.run_tests(name)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-3000:]


def test_there_are_at_least_sixty_attacks() -> None:
    """Counted as pytest collects them, each attack once, however many policies it is tried under."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "tests/attacks"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    found = set(re.findall(r"::test_\w*bare\w*\[(?:strict-|workspace-|read-only-)?(.+)\]", done.stdout))
    assert len(found) >= 60, sorted(found)
