"""Attacks by system call and by execution once more, for a user without any rights."""

from __future__ import annotations

import pytest

from tests.sandbox import ordinary


@pytest.mark.parametrize("name", ["attacks/test_attacks_calls.py", "attacks/test_attacks_execution.py"])
def test_as_an_ordinary_user(name: str) -> None:
    if reason := ordinary.unavailable():
        pytest.skip(f"tests cannot be run as an ordinary user here: {reason}")
    done = ordinary.run_tests(name)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-3000:]
