"""Conditions are read by code: they judge known facts, say where they are wrong, and unknown never holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.conditions import ConditionError, parse
from engine.facts import KNOWN
from engine.runs_tests import only_reads
from engine.runs_tests import tests_passed as says_of


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


PASSES = (
    "pytest -q", "cd x && pytest", "A=1 timeout 60 python -m pytest", "npm run test", "make -C sub check",
    "go test ./...", "set -o pipefail; pytest | tail", "pytest && echo done", "pytest -n 4 -c setup.cfg tests/",
    "bash -c 'pytest -q'", "bash -o pipefail -c 'pytest | tail -3'", "sudo -u dev pytest", "pytest > out.txt 2>&1",
    "set -e; pytest; echo ok", "set -euo pipefail\npytest | tail -5\necho ok", "cat input | pytest",
    "source .venv/bin/activate && pytest", ".venv/bin/pytest", "uv run pytest", "coverage run -m pytest",
    "PYTHONPATH=src python3.12 -W error -m unittest", "make -C test check", "sh -lc 'cd a && pytest' && ls",
    "pip install -e . && pytest", "./gradlew test", "env CI=1 npx vitest run", "python manage.py test",
)  # fmt: skip
PROVES_NOTHING = (
    "pytest || true", "pytest; true", "pytest | tail -3", "pytest &", "true || pytest", "! pytest",
    "echo pipefail; pytest | tail", "set +o pipefail; pytest | tail", "set -o pipefail; set +o pipefail; pytest | cat",
    "bash -c 'pytest | tail'", "bash -c 'pytest; true'", "set -o pipefail; bash -c 'pytest | tail'",
    "set -o pipefail | true; pytest | tail", "pytest --version", "pytest --collect-only -q", "pytest $OPTIONS",
    "PYTEST_ADDOPTS=--co pytest", "export PATH=fake; pytest", "exit 0; pytest", "trap 'exit 0' EXIT; pytest",
    "pytest && sed -i s/a/b/ x.py", "pytest && git checkout .", "if pytest; then echo; fi", "pytest; pytest tests/b",
    "(pytest; true)", "x=$(pytest)", "alias pytest=true; pytest", "make -n check", "make -i test", "/tmp/pytest",
    "npm test --if-present", "vitest --passWithNoTests", "go test -run NONE ./...", "mvn -DskipTests test",
    "set -e; pytest && true; echo", "bash -c \"$TESTS pytest\"", "pytest |& tail", "cargo test --no-run",
)  # fmt: skip
NO_TESTS = ("ls", "echo pytest", "make -C test", "git status", "cat tests/test_a.py", "grep -rn pytest .", "")


@pytest.mark.parametrize(
    ("command", "says"),
    [*((c, True) for c in PASSES), *((c, False) for c in PROVES_NOTHING), *((c, None) for c in NO_TESTS)],
)
def test_only_the_success_of_tests_counts(command: str, says: bool | None) -> None:
    assert says_of(command) is says


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["pytest", "|", ";", "&&", "'", "bash -c", "!", "$x"])).map(" ".join)
)
def test_any_text_can_be_asked_about(command: str) -> None:
    assert says_of(command) in (True, False, None)
    assert only_reads(command) in (True, False)
