"""The compaction screen, the costs elsewhere and the cache pane, over real stored sessions and over the workbench."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from rich.text import Text

from engine import events as ev
from engine.commands import ChangeSetting, Compact, UndoCompaction
from engine.compaction import report
from engine.prompt.layers import render
from engine.prompt.simulate import simulate
from engine.queries import InspectCompaction, InspectCompactions, InspectedCompaction, InspectRequest, InspectRequests
from engine.state import TurnUsage, fold
from engine.tools.registry import specs
from tests.tui.bench import workbench
from tests.tui.fake_engine import FakeHandle
from tests.tui.replay_kit import Browser, browser, store, timed
from tests.tui.test_inspector import reading
from tui.inspector import costs
from tui.inspector.compaction import FATES, compaction_line, detail
from tui.look import Look
from tui.screens.compaction import CompactionScreen
from tui.screens.inspector import InspectorScreen
from tui.screens.inspector_costs import CostsScreen
from tui.signs import ASCII
from tui.widgets.cache import cache_lines, marks

HOSTILE = "Fix [/] [bold]it[/bold] \x1b[31mred\x1b[0m 試験する"


def session() -> list[ev.Event]:
    """An offload, then a summary whose ledger holds the goal alone."""
    offload = ev.Compacted(
        number=1, kind="offload", reason=HOSTILE, offloaded=("c1",), tokens_before=9000, tokens_after=4000
    )
    summary = ev.Compacted(
        number=2, kind="summary", reason="asked for", keep_from=15,
        summary=f"## Goal\n{HOSTILE}", ledger=f"## Goal, as the person put it\n- {HOSTILE}", artifact="ab12",
        tokens_before=12_000, tokens_after=3000, usage=ev.Usage(input_uncached=500, cache_read=11_500), cost=0.05,
    )  # fmt: skip
    return [
        ev.SessionStarted(cwd="/src/shop", model="anthropic/claude-sonnet-5-5", app_version="1"),
        render(specs(), ""),
        ev.UserMessage(text=HOSTILE),
        *reading(1, 0, 6000, HOSTILE * 80),
        *reading(2, 5500, 1500),
        offload,
        *reading(3, 3000, 2000),
        ev.UserMessage(text="Never touch vendor/"),
        summary,
        *reading(4, 1000, 2000),
    ]


@asynccontextmanager
async def inspecting(
    root: Path, events: Sequence[ev.Event], size: tuple[int, int] = (120, 40), file: bool = False
) -> AsyncIterator[Browser]:
    """The inspector over a stored session or an exported file, as the player opens it."""
    name = store(root, events)
    if file:
        exported = root / "session.jsonl"
        exported.write_text("".join(event.model_dump_json() + "\n" for event in timed(events)))
        name = str(exported)
    async with browser(root, name, size=size) as replay:
        await replay.playing()
        await replay.press("f2")
        await replay.until(lambda: isinstance(replay.app.screen, InspectorScreen), "the inspector")
        yield replay


def inspected(number: int) -> InspectedCompaction:
    found = report.compaction(timed(session()), number)
    assert found is not None
    return found


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("file", [False, True], ids=["stored", "exported"])
async def test_c_leads_from_the_inspector_to_the_compactions(tmp_path: Path, size: tuple[int, int], file: bool) -> None:
    async with inspecting(tmp_path, session(), size, file) as replay:
        await replay.press("c")
        await replay.until(lambda: "AFTER" in replay.text(), "the compactions")
        text = replay.text()
        for words in ("compactions 2", "summary", "results put aside", "9.0k → 4.0k", "$0.05", "BEFORE", "in force",
                      "only to look at", "12,000 tokens", "Esc back"):  # fmt: skip
            assert words in text, words
        assert "u undo" not in text
        assert all(len(line) <= size[0] for line in text.splitlines())
        before, after = (next(n for n, x in enumerate(text.splitlines()) if w in x) for w in ("BEFORE", "AFTER"))
        assert (before == after) == (size[0] >= 100), "side by side where there is room"
        screen = replay.app.screen
        assert isinstance(screen, CompactionScreen)
        await replay.press("u", "a", "n")
        assert replay.app.screen is screen, "only looking"
        await replay.press("tab", "end")
        await replay.until(lambda: "artifact ab12" in replay.text(), "the end of the text")
        await replay.press("tab", "up")
        await replay.until(lambda: screen.found and screen.found.line.number == 1, "the first one")
        await replay.press("escape")
        await replay.until(lambda: isinstance(replay.app.screen, InspectorScreen), "the inspector")


async def test_without_a_compaction_it_says_so(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session()[:9]) as replay:
        await replay.press("c")
        await replay.until(lambda: "Nothing was compacted" in replay.text(), "the words")
        await replay.press("u", "a", "n", "tab", "down", "enter", "question_mark", "escape")
        await replay.until(lambda: "Nothing was compacted" in replay.text(), "the same")


async def test_an_empty_session_has_neither_compactions_nor_costs(tmp_path: Path) -> None:
    async with inspecting(tmp_path, session()[:1], (80, 24)) as replay:
        await replay.press("s")
        await replay.until(lambda: "No request was answered" in replay.text(), "the words")
        await replay.press("down", "escape", "c")
        await replay.until(lambda: "Nothing was compacted" in replay.text(), "the words")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_s_leads_to_what_it_would_have_cost_elsewhere(tmp_path: Path, size: tuple[int, int]) -> None:
    async with inspecting(tmp_path, session(), size) as replay:
        await replay.press("s")
        await replay.until(lambda: "with the cache" in replay.text(), "the table")
        text = replay.text()
        for words in ("cached", "uncached", "paid", "hit", "openai/gpt-6-sol", "google/gemini", "without", "Anthropic"):
            assert words in text, words
        assert all(len(line) <= size[0] for line in text.splitlines())
        await replay.press("down")
        await replay.until(lambda: "On anthropic/claude-opus-5-5" in replay.text(), "the chosen one's sentence")
        assert isinstance(replay.app.screen, CostsScreen)
        await replay.press("s")
        await replay.until(lambda: isinstance(replay.app.screen, InspectorScreen), "the inspector")


def handle() -> FakeHandle:
    """An engine whose session was compacted twice."""
    engine = FakeHandle()
    events = timed(session())
    engine.past = tuple(event.model_copy(update={"session": "s1"}) for event in events)
    engine.answers[InspectCompactions] = report.compactions(events)
    engine.answers[InspectCompaction] = report.compaction(events, 2)
    engine.answers[InspectRequests] = ()
    engine.answers[InspectRequest] = None
    return engine


async def test_over_the_workbench_it_undoes_switches_and_compacts(tmp_path: Path) -> None:
    engine = handle()
    async with workbench(tmp_path, engine=engine) as bench:
        bench.app.run_slash("compactions", "")
        await bench.until(lambda: "AFTER" in bench.screen_text(), "the compactions")
        assert "automatic on" in bench.screen_text() and "u undo" in bench.screen_text()
        await bench.pilot.press("u")
        await bench.until(lambda: "u again takes compaction 2 back" in bench.screen_text(), "the question")
        assert not [c for c in engine.sent if isinstance(c, UndoCompaction)]
        await bench.pilot.press("u")
        assert engine.sent[-1] == UndoCompaction("s1")
        await bench.pilot.press("a")
        assert engine.sent[-1] == ChangeSetting("s1", "compaction", "off")
        engine.tell(ev.SettingChanged(name="compaction", value="off"))
        await bench.until(lambda: "automatic off" in bench.screen_text(), "the switch")
        await bench.pilot.press("a", "n")
        assert engine.sent[-1] == ChangeSetting("s1", "compaction", "auto")
        await bench.pilot.press(*"paths", "enter")
        await bench.until(lambda: engine.sent[-1] == Compact("s1", "paths"), "the compaction asked for")


async def test_what_happens_meanwhile_shows(tmp_path: Path) -> None:
    engine = handle()
    async with workbench(tmp_path, engine=engine) as bench:
        bench.app.run_slash("compactions", "")
        await bench.until(lambda: "AFTER" in bench.screen_text(), "the compactions")
        undone = [*timed(session()), ev.CompactionUndone(number=2)]
        engine.answers[InspectCompactions] = report.compactions(undone)
        engine.tell(ev.CompactionUndone(number=2))
        await bench.until(lambda: "undone" in bench.screen_text(), "that it was taken back")


async def test_enter_on_the_cache_pane_opens_the_inspector(tmp_path: Path) -> None:
    async with workbench(tmp_path, engine=handle()) as bench:
        bench.app.bench.cache_pane.focus()
        await bench.pilot.press("enter")
        await bench.until(lambda: isinstance(bench.app.screen, InspectorScreen), "the inspector")


# --- the lines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", [Look(), Look(signs=ASCII)], ids=["unicode", "ascii"])
@pytest.mark.parametrize("width", [20, 40, 80, 99, 100, 200])
@pytest.mark.parametrize("number", [1, 2])
def test_no_line_is_wider_than_the_screen_and_none_is_markup(number: int, width: int, look: Look) -> None:
    found, prices = inspected(number), simulate(timed(session()))
    made: list[Text] = [*detail(found, width, look), compaction_line(found.line, width, look)]
    made += [costs.cost_line(line, 1.0, True, width, look) for line in prices] + [costs.heading_line(width, look)]
    assert all(line.cell_len <= width for line in made)
    assert not any("\x1b" in line.plain for line in made)
    if width >= 80:
        assert "[bold]it[/bold]" in "\n".join(line.plain for line in made)


def test_each_fate_has_a_sign_and_a_word() -> None:
    text = "\n".join(line.plain for line in detail(inspected(2), 120, Look()))
    assert "✓ in the ledger" in text and "✗ left out" in text and "✗ FAILED" in text and "✓ passed" in text
    assert len({words for _, _, words in FATES.values()}) == len(FATES)


def test_a_price_nobody_knows_is_said() -> None:
    lines = simulate(timed(session()), ("openai/none-such",))
    assert "Nobody here knows" in costs.sentences(lines, 1)[0]
    assert "?" in costs.cost_line(lines[1], 1.0, False, 80, Look()).plain
    assert costs.sentences((), 0) == ("", "")


def usage(read: int, write: int, new: int) -> TurnUsage:
    return TurnUsage(1, read, write, new, 1, 0.0, 0.0, 0.1, 1.0)


def test_the_cache_pane_marks_the_turns_where_the_cache_broke() -> None:
    turns = [usage(0, 900, 100), usage(900, 100, 50), usage(200, 500, 0), usage(700, 10, 10)]
    assert marks(turns, Look()).plain == "  ✗ "
    free = [usage(0, 0, 1000), usage(960, 0, 200), usage(1100, 0, 10), usage(0, 0, 1200)]
    assert marks(free, Look()).plain == "   ✗"
    lines = cache_lines(fold(timed(session())), 60, Look())
    assert any("broke" in line.plain and "✗" in line.plain for line in lines)
    assert all(line.cell_len <= 60 for line in lines)
