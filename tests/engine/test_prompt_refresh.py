"""The stored prompt goes on as it is; a person may have it rendered anew, and may take a compaction back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.commands import ChangeSetting, Compact
from engine.prompt.build import build
from tests.e2e.cli import agent_tui
from tests.engine.kit import Kit, make_kit, shell, text
from tests.fakes import Call, StrictServer, Turn, assert_append_only


def notices(kit: Kit) -> list[str]:
    return [e.text for e in kit.events if e.type == "notice"]


async def test_a_prompt_is_rendered_anew_only_when_it_differs_and_asked_for(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("hello")]])
    kit.runner.refresh()
    assert notices(kit)[-1].startswith("the prompt is up to date")
    now = next(e for e in kit.events if e.type == "prompt_rendered")
    tools = tuple(tool for tool in now.tools if tool.name != "user_ask")
    kit.runner._parts = replace(kit.runner._parts, render=lambda: now.model_copy(update={"tools": tools, "seq": 0}))
    kit.runner.refresh()
    rendered = [e for e in kit.events if e.type == "prompt_rendered"]
    assert len(rendered) == 2 and "-user_ask" in rendered[-1].reason
    assert build(kit.events, kit.runner.session.state).tools == tools
    await kit.runner.close()


def test_a_resumed_session_says_once_what_it_was_written_with_and_stays_append_only(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    turns = [Turn(calls=(Call("fs_list"),)), *(Turn(text=f"answer {n}") for n in range(3))]
    with StrictServer("anthropic", turns) as server:
        flags = ["run", "--model", "anthropic/claude-test", "--base-url", server.base_url, "--json"]
        key = {"ANTHROPIC_API_KEY": "k"}
        first = agent_tui([*flags, "one"], tmp_path, folder, key)
        (folder / "AGENTS.md").write_text("Always answer in verse.\n")
        for words in ("two", "three"):
            more = agent_tui([*flags, "--continue", words], tmp_path, folder, key)
            assert (more.code, server.rejections) == (0, []), more.err
        assert_append_only(server.requests)
        assert "in verse" not in str(server.requests[-1])
    shown = agent_tui(["sessions", "show", first.json["session"]], tmp_path, folder)
    assert shown.out.count("was written with other project rules") == 1


async def test_a_compaction_is_taken_back_and_the_request_is_what_it_was(tmp_path: Path) -> None:
    long = "a long thought about the matter at hand " * 120
    kit = make_kit(
        tmp_path, [[text(long), shell("c1", "make")], [text(long)], [text("note: all is well")], [text("on")]]
    )
    kit.runner.send("begin", "steer")
    await kit.runner.idle()
    before = build(kit.events, kit.runner.session.state).messages
    kit.runner.compact(Compact(kit.runner.session.id))
    await kit.runner.idle()
    assert any(e.type == "compacted" for e in kit.events)
    assert build(kit.events, kit.runner.session.state).messages != before
    await kit.runner.undo_compaction()
    assert kit.events[-1].type == "compaction_undone"
    assert build(kit.events, kit.runner.session.state).messages == before
    await kit.runner.undo_compaction()
    assert "There is no compaction to take back" in notices(kit)[-1]
    kit.runner.send("go on", "steer")
    await kit.runner.idle()
    assert kit.model.requests[-1].messages[: len(before)] == before
    await kit.runner.close()


@pytest.mark.parametrize(("value", "taken"), [("off", True), ("auto", True), ("sometimes", False), (7, False)])
async def test_automatic_compaction_is_turned_off_and_on(tmp_path: Path, value: object, taken: bool) -> None:
    kit = make_kit(tmp_path, [])
    kit.runner.change(ChangeSetting(kit.runner.session.id, "compaction", value))
    assert (kit.events[-1].type == "setting_changed") is taken
    if taken:
        assert kit.runner.session.state.compaction == value
    await kit.runner.close()


def test_the_setting_holds_from_the_start(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (tmp_path / "app" / "config").mkdir(parents=True)
    (tmp_path / "app" / "config" / "config.toml").write_text('compaction = "off"\n')
    with StrictServer("openai-chat", [Turn(text="hello")]) as server:
        flags = ["--model", "openai-chat/test", "--base-url", server.base_url, "--output", "jsonl"]
        done = agent_tui(["run", *flags, "hi"], tmp_path, folder)
    assert '"name": "compaction", "value": "off"' in done.out
