"""Counting tokens offline, whatever the text: also one of a megabyte, which the vocabulary takes only in slices."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.commands import Rewind
from engine.prompt import tokens
from tests.engine.kit import make_kit, text


@pytest.mark.parametrize("piece", ["some words of prose, ", "\U0001f600", "a1b2c3d4e5", "\n", "é漢", " "], ids=repr)
def test_a_long_text_has_as_many_tokens_as_its_parts(piece: str) -> None:
    times = 600_000 // len(piece)
    tenth = tokens.count(piece * (times // 10))
    assert 9.5 * tenth - 5 <= tokens.count(piece * times) <= 10.5 * tenth + 25


async def test_a_message_larger_than_the_window_says_what_to_do_and_going_back_helps(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("hello")], [text("on")]])
    kit.runner.send("hi", "steer")
    await kit.runner.idle()
    kit.runner.send("0123456789abcdef " * 65_000, "steer")
    await kit.runner.idle()
    state = kit.runner.session.state
    assert state.stage == "failed" and "/rewind" in state.stage_detail and "200,000" in state.stage_detail
    large = next(e.seq for e in kit.events if e.type == "user_message" and len(e.text) > 1_000_000)
    await kit.runner.rewind(Rewind(kit.runner.session.id, to=large))
    kit.runner.send("go on", "steer")
    await kit.runner.idle()
    assert kit.runner.session.state.stage == "finished"
    assert [m.role for m in kit.model.requests[-1].messages] == ["user", "assistant", "user"]
    await kit.runner.close()
