"""The context inspector over a real log and a real engine, and its lines by themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import events as ev
from engine.prompt.inspect import Inspector
from engine.prompt.layers import render
from engine.queries import InspectedBlock, InspectedRequest, InspectRequest, InspectRequests, RequestLine
from engine.tools.registry import specs
from tests.tui.bench import workbench
from tests.tui.fake_engine import FakeHandle
from tests.tui.replay_kit import Browser, browser, store, timed
from tui import slots
from tui.inspector.bytes import Section, byte_line, byte_lines
from tui.inspector.lines import against_lines, chart, head_line, prediction_line
from tui.inspector.rows import MANY, row_line, rows
from tui.look import Look
from tui.screens.inspector import InspectorScreen
from tui.screens.inspector_bytes import BytesScreen
from tui.signs import ASCII

MODEL = "anthropic/claude-sonnet-4-5"
LONG = "a line of output\n" * 300


def reading(turn: int, whole: int, fresh: int, text: str = LONG) -> list[ev.Event]:
    """A turn that reads a file; ``whole`` tokens came from the cache and ``fresh`` were written to it."""
    call = ev.ToolCall(id=f"c{turn}", name="fs_read", input={"path": f"{turn}.py"})
    usage = ev.Usage(cache_read=whole, cache_write=fresh, output=40)
    return [
        ev.TurnStarted(turn=turn, model=MODEL),
        ev.AssistantMessage(
            turn=turn, model=MODEL, blocks=(ev.TextBlock(text="I look."), call), usage=usage, cost=0.01
        ),
        ev.ToolResult(call_id=call.id, turn=turn, name="fs_read", status="ok", text=text),
    ]


def session() -> list[ev.Event]:
    """Seven requests; the fourth comes after an offload, the sixth after the prompt was rendered again."""
    offload = ev.Compacted(number=1, kind="offload", reason="full", offloaded=("c1",))
    return [
        ev.SessionStarted(cwd="/src/shop", model=MODEL, app_version="1"),
        render(specs(), "skill: release\nHow to release."),
        ev.UserMessage(text="Fix the login test"),
        ev.RuntimeUpdate(kind="environment", text="date: 2026-11-30"),
        *reading(1, 0, 4000),
        *reading(2, 4000, 1500),
        *reading(3, 5500, 1500),
        offload,
        *reading(4, 4000, 2000),
        *reading(5, 6000, 1500),
        render(specs(), "skill: release\nHow to release it.", reason="written with other skills"),
        *reading(6, 3000, 6000),
        *reading(7, 9000, 1500, "red \x1b[31m[bold]text[/bold]\n"),
        *reading(8, 10500, 200),
    ]


@asynccontextmanager
async def inspecting(
    root: Path, events: Sequence[ev.Event], size: tuple[int, int] = (120, 40), turn: int = 0
) -> AsyncIterator[tuple[Browser, InspectorScreen]]:
    """The inspector on a stored session."""
    id = store(root, events)
    async with browser(root, id, size=size) as replay:
        await replay.playing()
        screen = slots.inspector(replay.app.ask, id, turn)
        assert isinstance(screen, InspectorScreen)
        await replay.app.push_screen(screen)
        await replay.until(lambda: screen.list.length and (screen.requests or not screen.request), "the inspector")
        await replay.pilot.pause()
        yield replay, screen


async def at(replay: Browser, screen: InspectorScreen, turn: int) -> str:
    await replay.until(lambda: screen.request and screen.request.turn == turn, f"request {turn}")
    await replay.pilot.pause()
    return replay.text()


# --- the screen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_it_shows_the_newest_request_with_all_that_matters(tmp_path: Path, size: tuple[int, int]) -> None:
    async with inspecting(tmp_path, session(), size) as (replay, screen):
        text = await at(replay, screen, 8)
        for words in (
            "request 8 of 8", "10,700 tokens", "$0.01", "as predicted", "predicted  read 10,500",
            "reported  read 10,500",
            "A identity, rules", "B tools (", "C results (6)", "R read", "N NEW", "against request 7: same to block",
            "then appended", "2 breaks", "4 marks, 5 min; costs: read 0.1, write 1.25", "Esc back", "? keys",
        ):  # fmt: skip
            assert words in text, words
        assert ("write 200" in text) == (size[0] >= 100)
        assert all(len(line) <= size[0] for line in text.splitlines())


async def test_arrows_go_through_the_requests_and_n_and_p_through_the_breaks(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session()) as (replay, screen):
        await at(replay, screen, 8)
        await replay.press("left")
        await at(replay, screen, 7)
        await replay.press("p")
        text = " ".join((await at(replay, screen, 6)).split())
        assert "the prompt was rendered again: written with other skills (skill text changed at byte" in text
        assert "B BROKEN" in text and "✗" in text
        await replay.press("p")
        assert "results put aside at compaction 1" in await at(replay, screen, 4)
        await replay.press("p")
        await replay.until(lambda: "did not break before this" in replay.text(), "words")
        await replay.press("n")
        await at(replay, screen, 6)
        await replay.press("left", "left", "left", "left", "left", "left")
        await replay.until(lambda: "This is the first request" in replay.text(), "words")
        assert "nothing to compare with" in await at(replay, screen, 1)


async def test_keys_in_a_hurry_arrive_where_they_lead(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session()) as (replay, screen):
        await at(replay, screen, 8)
        await replay.press(*["left"] * 5)
        await at(replay, screen, 3)


async def test_after_the_newest_comes_what_was_sent_since(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session()) as (replay, screen):
        await at(replay, screen, 8)
        more = timed([*session(), *reading(9, 10700, 100)])
        inspector, before = Inspector(), screen._ask

        async def later(query: Any) -> Any:
            if isinstance(query, InspectRequest):
                return inspector.request(more, query.turn)
            return inspector.requests("x", more) if isinstance(query, InspectRequests) else await before(query)

        screen._ask = later
        await replay.press("right")
        assert "request 9 of 9" in await at(replay, screen, 9)
        await replay.until(lambda: len(screen.requests) == 9, "the chart follows")


async def test_v_shows_the_bytes_and_where_they_differ(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session(), turn=6) as (replay, screen):
        await at(replay, screen, 6)
        assert screen.rows[screen.list.index].first
        await replay.press("v")
        await replay.until(lambda: isinstance(replay.app.screen, BytesScreen), "the bytes")
        await replay.until(lambda: "How to release it." in replay.text(), "the text")
        text = replay.text()
        assert "B skills" in text and "differs from byte 29 on" in text and "in request 5 it was" in text
        await replay.press("escape")
        await replay.until(lambda: replay.app.screen is screen, "back")
        await replay.press("escape")
        await replay.until(lambda: replay.player, "the player")


async def test_outside_text_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session()) as (replay, screen):
        await at(replay, screen, 8)
        await replay.press("end", "v")
        await replay.until(lambda: "␛[31m[bold]text[/bold]↵" in replay.text(), "the bytes as they are")


async def test_f_unfolds_and_keeps_the_place(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session()) as (replay, screen):
        await at(replay, screen, 8)
        block = screen.rows[screen.list.index].blocks[0]
        await replay.press("f")
        assert screen.request is not None and len(screen.rows) == len(screen.request.blocks)
        assert screen.rows[screen.list.index].blocks == (block,)


async def test_a_session_without_a_request_and_one_that_is_not_there(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session()[:4]) as (replay, _):
        await replay.until(lambda: "No request was sent" in replay.text(), "words")
        await replay.press("left", "right", "n", "v", "f")
        await replay.app.push_screen(slots.inspector(replay.app.ask, "nowhere"))
        await replay.until(lambda: "nowhere" in replay.text(), "the error")


async def test_an_exported_file_is_inspected_too_and_the_player_leads_here(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text("".join(event.model_dump_json() + "\n" for event in timed(session())))
    async with browser(tmp_path, str(file)) as replay:
        player = await replay.playing()
        player.go_to(14)
        await replay.press("f2")
        await replay.until(lambda: isinstance(replay.app.screen, InspectorScreen), "the inspector")
        screen = replay.app.screen
        assert isinstance(screen, InspectorScreen)
        await at(replay, screen, 3)


async def test_f2_opens_it_over_the_workbench(tmp_path: Path) -> None:
    engine = FakeHandle()
    events = timed(session())
    engine.answers[InspectRequest] = Inspector().request(events)
    engine.answers[InspectRequests] = Inspector().requests("s1", events)
    async with workbench(tmp_path, engine=engine) as bench:
        await bench.pilot.press("f2")
        await bench.until(lambda: "request 8 of 8" in bench.screen_text(), "the inspector")
        await bench.pilot.press("f2")
        await bench.until(lambda: not isinstance(bench.app.screen, InspectorScreen), "the workbench")


# --- its lines --------------------------------------------------------------------------------------------------------


def shown(turn: int = 0) -> InspectedRequest:
    found = Inspector().request(timed(session()), turn)
    assert found is not None
    return found


@pytest.mark.parametrize("look", [Look(), Look(signs=ASCII)], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [1, 10, 40, 80, 120, 200])
@pytest.mark.parametrize("turn", [1, 4, 6, 8])
def test_no_line_is_wider_than_the_screen(turn: int, width: int, look: Look) -> None:
    request, listed = shown(turn), Inspector().requests("s", timed(session()))
    made = [head_line(request, width, look), prediction_line(request, width, look)]
    made += against_lines(request, width, look).split("\n")
    if width >= 40:
        made += chart(listed, turn, width, look).split("\n")
    made += [row_line(row, 100, width, look) for row in rows(request)]
    assert all(line.cell_len <= width for line in made)
    if look.signs is ASCII:
        assert all(line.plain.isascii() for line in made)


def test_the_chart_keeps_the_request_shown_in_view() -> None:
    listed = [RequestLine(n, 100, 90, 0.1, n == 500, "") for n in range(1, 1001)]
    for turn in (1, 500, 1000):
        bars, marks = chart(listed, turn, 80, Look()).plain.split("\n")
        assert marks.count("▲") >= 1 and len(bars) <= 80


def block(state: str, n: int) -> InspectedBlock:
    return InspectedBlock("C", "result", f"result t{n}", "x", 10, 0.5, state)  # type: ignore[arg-type]


def test_rows_fold_what_is_cached_and_show_what_is_paid() -> None:
    from dataclasses import replace

    request = replace(shown(), blocks=(*(block("read", n) for n in range(5)), *(block("new", n) for n in range(3))))
    made = rows(request)
    assert [row.title for row in made] == ["results (5)", "result t0", "result t1", "result t2"]
    assert made[0].tokens == 50 and made[0].cost == 2.5
    assert len(rows(request, folded=False)) == 8
    many = replace(request, blocks=tuple(block("new", n) for n in range(MANY + 1)))
    assert len(rows(many)) == 1


@given(st.text(), st.integers(2, 60))
@settings(max_examples=80, deadline=None)
def test_bytes_lose_nothing(text: str, width: int) -> None:
    lines = byte_lines((Section("head", text),), width)
    offsets = [line.offset for line in lines[1:]]
    assert offsets == sorted(set(offsets))
    assert sum(len(line.text) for line in lines[1:]) == len(text)
    assert all(byte_line(line, width, Look()).cell_len <= width for line in lines)


@given(st.text(min_size=1), st.data())
@settings(max_examples=60, deadline=None)
def test_the_mark_is_at_its_byte(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    mark = len(text[:at].encode("utf-8", "replace"))
    marked = [line for line in byte_lines((Section("head", text, mark),), 20) if line.mark >= 0]
    assert len(marked) == 1
    assert marked[0].offset <= mark
