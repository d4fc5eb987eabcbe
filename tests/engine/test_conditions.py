"""Conditions are read by code: they judge known facts, say where they are wrong, and unknown never holds."""

from __future__ import annotations

import pytest

from engine.conditions import ConditionError, parse
from engine.facts import KNOWN
from engine.facts import test_run as says_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("confirmed_sources >= 3", True),
        ("todo_open == 0 and commands_failed == 0", False),
        ("todo_open == 0 or commands_failed == 0", True),
        ("not (todo_open == 0 and commands_failed < 1)", True),
        ("tests_pass", False),
        ("not tests_pass", False),
        ("tests_pass == false", False),
        ("tests_pass == true or confirmed_sources > 2", True),
    ],
)
def test_a_condition_is_judged(text: str, expected: bool) -> None:
    facts = {"confirmed_sources": 3.0, "todo_open": 2.0, "commands_failed": 0.0, "tests_pass": None}
    assert parse(text, KNOWN).holds(facts) is expected


@pytest.mark.parametrize(
    ("text", "column"),
    [("", 1), ("todo_opn == 0", 1), ("todo_open == ", 13), ("todo_open @ 1", 11), ("(todo_open == 0", 16),
     ("todo_open == true", 14), ("todo_open == 0 todo_done", 16), ("(" * 99, 42), ("__import__('os')", 1)],
)  # fmt: skip
def test_an_error_names_the_place_and_the_facts(text: str, column: int) -> None:
    with pytest.raises(ConditionError, match="Known facts: calls") as error:
        parse(text, KNOWN)
    assert f"column {error.value.column}:" in str(error.value)
    assert abs(error.value.column - column) <= 1


@pytest.mark.parametrize(
    ("command", "says"),
    [("pytest -q", True), ("cd x && pytest", True), ("A=1 timeout 60 python -m pytest", True), ("npm run test", True),
     ("make -C sub check", True), ("go test ./...", True), ("pytest || true", False), ("pytest; true", False),
     ("pytest | tail -3", False), ("set -o pipefail; pytest | tail", True), ("pytest &", False), ("ls", None),
     ("echo pytest", None), ("pytest --version", None), ("true || pytest", False), ("echo 'open", None)],
)  # fmt: skip
def test_a_test_run_is_recognised(command: str, says: bool | None) -> None:
    assert says_of(command) is says
