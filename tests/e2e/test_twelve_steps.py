"""The task of twelve steps over each wire format, against a server that refuses what the real one refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.cli import agent_tui
from tests.e2e.task import ANSWER, STEPS, TASK, make_repository
from tests.fakes import StrictServer, Turn, assert_append_only

MODELS = {"anthropic": "anthropic/claude-test", "openai": "openai/gpt-test", "openai-chat": "openai-chat/test"}
KEYS = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
MORE = "And now say it in one word."


@pytest.mark.parametrize("format", list(MODELS))
def test_the_task_runs_to_its_end_and_goes_on_after_a_restart(format: str, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "shop")
    with StrictServer(format, [*STEPS, Turn(text="Fencepost.")], by_history=True) as server:  # type: ignore[arg-type]
        flags = ["--model", MODELS[format], "--base-url", server.base_url, "--json", "--approve", "sandboxed"]
        first = agent_tui(["run", *flags, TASK], tmp_path, repository, KEYS)
        assert (first.code, server.rejections) == (0, []), first.err
        result = first.json
        assert (result["reason"], result["answer"], result["turns"]) == ("finished", ANSWER, 12)
        assert result["usage"]["cache_read"] > 0
        assert "+ 1" not in (repository / "shop.py").read_text()
        assert (repository / "CHANGES.md").exists()

        second = agent_tui(["run", *flags, "--resume", result["session"], MORE], tmp_path, repository, KEYS)
        assert (second.code, server.rejections) == (0, []), second.err
        assert second.json["answer"] == "Fencepost."
        assert len(server.requests) == 13
        assert_append_only(server.requests)


def test_exit_codes_tell_a_script_what_happened(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "shop")
    with StrictServer("openai-chat", STEPS, by_history=True) as server:
        base = ["run", "--model", "openai-chat/test", "--base-url", server.base_url]
        limited = agent_tui([*base, "--max-turns", "2", TASK], tmp_path, repository)
        assert limited.code == 3
        assert "limit of 2 turns" in limited.err
    assert agent_tui(["run"], tmp_path, repository).code == 2
    assert agent_tui(["run", "--model", "anthropic/x", TASK], tmp_path, repository).code == 5
    assert agent_tui(["run", "--model", "nonsense", TASK], tmp_path, repository).code == 5
    refused = agent_tui([*base, TASK], tmp_path, repository)
    assert refused.code == 1, "the server is gone"


def test_a_denied_command_ends_with_its_own_code_and_nothing_ran(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "shop")
    from tests.fakes import Call

    turns = [Turn(calls=(Call("shell_run", {"command": "rm -rf notes.txt"}),)), Turn(text="Then not.")]
    with StrictServer("openai-chat", turns, by_history=True) as server:
        done = agent_tui(
            ["run", "--model", "openai-chat/test", "--base-url", server.base_url, "clean up"], tmp_path, repository
        )
    assert done.code == 4, done.err
    assert (repository / "notes.txt").exists()
