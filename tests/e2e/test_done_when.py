"""A run without a screen ends well only when its conditions hold, wherever they were said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.desk import Desk, turn

PASSING = "def test_it():\n    assert True\n"


def shell(command: str) -> dict[str, object]:
    return {"tool": "shell_run", "input": {"command": command}}


def work(desk: Desk, command: str) -> list[str]:
    """A model that says it is done, runs ``command`` when it is told that it is not, and says so again and again."""
    (desk.folder / "test_it.py").write_text(PASSING)
    done = [turn(text="It is done.") for _ in range(4)]
    spec = desk.script(turn(text="It is done."), turn(shell(command)), *done)
    return ["run", "--model", spec, "--approve", "sandboxed", "--output", "json"]


@pytest.mark.parametrize(
    ("command", "code"),
    [("python -m pytest -q test_it.py", 0), ("echo pipefail; python -m pytest -q nothing.py | tail -1", 1)],
)
def test_the_exit_code_tells_whether_the_conditions_hold(tmp_path: Path, command: str, code: int) -> None:
    desk = Desk(tmp_path)
    done = desk.run(*work(desk, command), "--done-when", "tests_pass == true", "Make it work")
    assert (done.code, done.json["reason"]) == (code, "failed" if code else "finished"), done.err
    if code:
        assert "tests_pass == true (now: unknown, no test has run since the last edit)" in done.json["detail"]


def test_conditions_and_stages_of_the_settings_hold_for_new_sessions(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.home.settings.write_text(
        '[task]\ndone_when = ["calls >= 1", "nonsense"]\n'
        'stages = [{name = "look", until = "calls >= 1", tools = ["shell_"]}]\n'
    )
    arguments = [*work(desk, "ls")[:-1], "jsonl"]
    done = desk.run(*arguments, "Look around")
    assert done.code == 0, done.err
    assert '"done_when": ["calls >= 1"]' in done.out
    assert "there is no fact nonsense" in done.out
    assert '"type": "stage_changed"' in done.out
