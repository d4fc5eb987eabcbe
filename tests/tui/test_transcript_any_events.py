"""Whatever happens in whatever order: nothing breaks, and what was watched live is what a replay shows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from engine import events as ev
from engine.events import AnyEvent
from tests.strategies import events, model, texts
from tests.tui.transcript_kit import AT
from tui.transcript.blocks import Blocks
from tui.transcript.kinds import Gone, Said, Tool
from tui.transcript.look import Look
from tui.transcript.neutral import neutral
from tui.transcript.reader import Reader

ids = st.sampled_from(["c1", "c2"])
turns = st.integers(1, 2)
live = st.one_of(
    st.builds(
        ev.StreamDelta,
        turn=turns,
        index=st.integers(0, 2),
        kind=st.sampled_from(["text", "thinking", "tool_call"]),
        text=texts,
        call_id=ids,
    ),
    st.builds(ev.StreamDropped, turn=turns),
    st.builds(ev.ToolProgress, call_id=ids, text=texts),
    st.builds(ev.LogHealth, saving=st.booleans()),
    st.builds(ev.EngineFailed, error=texts),
)
turn_events = st.one_of(
    st.builds(
        ev.AssistantMessage,
        turn=turns,
        model=st.just("m"),
        blocks=st.lists(
            st.builds(ev.TextBlock, text=texts)
            | st.builds(ev.ThinkingBlock, text=texts)
            | st.builds(ev.ToolCall, id=ids, name=texts),
            max_size=3,
        ).map(tuple),
    ),
    model(ev.ToolStarted, call_id=ids, turn=turns),
    model(ev.ToolResult, call_id=ids, turn=turns),
)
happenings: st.SearchStrategy[list[AnyEvent]] = st.lists(events | turn_events | live, max_size=15)


def numbered(made: list[AnyEvent]) -> list[AnyEvent]:
    return [
        event.model_copy(update={"seq": n, "at": AT}) if isinstance(event, ev.Stored) else event
        for n, event in enumerate(made, 1)
    ]


@settings(max_examples=150, deadline=None)
@given(happenings, st.integers(1, 90), st.integers(1, 12), st.booleans(), st.integers(0, 30))
def test_any_events_make_harmless_lines_that_fit(
    made: list[AnyEvent], width: int, height: int, unfolded: bool, line: int
) -> None:
    reader = Reader(Look())
    reader.resize(width, height)
    reader.fold_all(unfolded)
    for event in numbered(made):
        reader.feed([event])
        frame = reader.frame()
        assert len(frame.rows) == min(height, frame.total - frame.top)
        for row in frame.rows:
            assert neutral(row.strip.text) == row.strip.text and "\n" not in row.strip.text
            assert cell_len(row.strip.text) <= max(width, 22)
    reader.scroll_to(line)
    frame = reader.frame()
    again = reader.frame()
    assert (frame.top, [row.strip for row in frame.rows]) == (again.top, [row.strip for row in again.rows])


@settings(max_examples=150, deadline=None)
@given(happenings)
def test_in_one_batch_or_one_by_one_the_blocks_are_the_same(made: list[AnyEvent]) -> None:
    one_by_one, at_once = Blocks(), Blocks()
    for event in numbered(made):
        one_by_one.feed([event])
    at_once.feed(numbered(made))
    assert list(one_by_one) == list(at_once)


@settings(max_examples=150, deadline=None)
@given(happenings)
def test_watched_live_or_replayed_the_stored_blocks_are_the_same(made: list[AnyEvent]) -> None:
    watched, replayed = Blocks(), Blocks()
    ended = [*numbered(made), ev.StreamDropped(turn=1)]
    watched.feed(ended)
    replayed.feed([event for event in ended if isinstance(event, ev.Stored)])
    assert _essence(watched) == _essence(replayed)


def _essence(blocks: Blocks) -> list[object]:
    """What was said and done, in order; the live tail of a call and the engine's own failure are not stored."""
    kept: list[object] = []
    for block in blocks:
        if isinstance(block, Said):
            kept.append((block.seq, block.text, block.note))
        elif isinstance(block, Tool):
            kept.append((block.seq, block.call_id, block.state, block.text, block.summary))
        elif not isinstance(block, Gone) and block.seq:
            kept.append(block)
    return sorted(kept, key=repr)
