"""The same limits and process trees for a user without any rights: no cgroups, no root, only rlimits and the meter."""

from __future__ import annotations

import pytest

from tests.sandbox import ordinary


@pytest.mark.parametrize(
    "name",
    [
        "sandbox/test_limits.py",
        "sandbox/test_processes_chaos.py",
        "attacks/test_attacks_reach.py",
        "sandbox/test_pictures.py",
    ],
)
def test_as_an_ordinary_user(walls: None, name: str) -> None:
    if reason := ordinary.unavailable():
        pytest.skip(f"tests cannot be run as an ordinary user here: {reason}")
    done = ordinary.run_tests(name)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-3000:]
    assert "passed" in said or "." in said, said
