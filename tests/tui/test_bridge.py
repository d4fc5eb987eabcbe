"""Events cross from the engine thread to the screen: all, in order, in few batches."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from engine import events as ev
from engine.state import TaskState
from tui.bridge import FRAME, LARGEST, Bridge


def delta(text: str, index: int = 0, turn: int = 1) -> ev.StreamDelta:
    return ev.StreamDelta(session="s", turn=turn, index=index, kind="text", text=text)


def notice(text: str) -> ev.Notice:
    return ev.Notice(session="s", level="info", text=text)


def state(seq: int) -> ev.StateChanged:
    return ev.StateChanged(session="s", state=TaskState(session="s", seq=seq))


async def test_all_arrive_in_order_from_a_real_thread_in_a_bounded_number_of_batches() -> None:
    loop = asyncio.get_running_loop()
    woken = asyncio.Event()
    bridge = Bridge(lambda: loop.call_soon_threadsafe(woken.set))
    total, every = 100_000, 500

    def engine() -> None:
        for n in range(total):
            bridge.receive(delta(f"{n};"))
            if n % every == 0:
                bridge.receive(notice(str(n)))
                bridge.receive(state(n))

    started = loop.time()
    thread = threading.Thread(target=engine)
    thread.start()
    batches: list[tuple[Any, ...]] = []
    more = False
    while thread.is_alive() or woken.is_set() or more:
        if not more:
            try:
                await asyncio.wait_for(woken.wait(), 0.05)
            except TimeoutError:
                continue
        woken.clear()
        await asyncio.sleep(bridge.wait())
        batch, more = bridge.take()
        batches.append(batch)
    seconds = loop.time() - started
    thread.join()

    said = [event for batch in batches for event in batch]
    assert "".join(e.text for e in said if e.type == "stream_delta") == "".join(f"{n};" for n in range(total))
    assert [e.text for e in said if e.type == "notice"] == [str(n) for n in range(0, total, every)]
    assert len(batches) <= seconds / FRAME + 2
    assert all(sum(e.type == "state_changed" for e in batch) <= 1 for batch in batches)
    states = [e.state.seq for e in said if e.type == "state_changed"]
    assert states == sorted(states) and states[-1] == total - every


def test_pieces_of_one_block_become_one_event_and_blocks_stay_apart() -> None:
    bridge = Bridge(lambda: None)
    for event in (delta("a"), delta("b"), delta("c", index=1), notice("x"), delta("d", index=1), delta("e", index=1)):
        bridge.receive(event)
    batch, more = bridge.take()
    assert [getattr(e, "text", "") for e in batch] == ["ab", "c", "x", "de"]
    assert not more


def test_a_state_comes_after_the_events_it_was_folded_from() -> None:
    bridge = Bridge(lambda: None)
    bridge.receive(state(1))
    bridge.receive(notice("later"))
    batch, _ = bridge.take()
    assert [e.type for e in batch] == ["notice", "state_changed"]


def test_a_long_history_comes_in_parts_and_its_state_with_the_last() -> None:
    bridge = Bridge(lambda: None)
    for n in range(LARGEST + 1):
        bridge.receive(notice(str(n)))
    bridge.receive(state(7))
    first, more = bridge.take()
    assert len(first) == LARGEST and more
    second, more = bridge.take()
    assert [e.type for e in second] == ["notice", "state_changed"] and not more


def test_it_wakes_once_for_what_is_waiting_and_again_after_it_was_taken() -> None:
    wakes: list[int] = []
    bridge = Bridge(lambda: wakes.append(1))
    bridge.receive(notice("a"))
    bridge.receive(notice("b"))
    assert len(wakes) == 1
    bridge.take()
    bridge.receive(notice("c"))
    assert len(wakes) == 2


def test_the_first_event_is_due_at_once_and_the_next_within_a_frame() -> None:
    bridge = Bridge(lambda: None)
    assert bridge.wait() == 0
    bridge.take()
    assert 0 < bridge.wait() <= FRAME


@pytest.mark.parametrize("split", ["session", "turn", "call_id"])
def test_pieces_of_different_blocks_are_never_joined(split: str) -> None:
    bridge = Bridge(lambda: None)
    other = {"session": "t", "turn": 2, "call_id": "c"}[split]
    bridge.receive(delta("a"))
    bridge.receive(delta("b").model_copy(update={split: other}))
    batch, _ = bridge.take()
    assert len(batch) == 2


def test_sessions_that_stream_at_once_are_joined_each_for_itself_and_in_its_own_order() -> None:
    bridge = Bridge(lambda: None)
    for n in range(50):
        for session in ("one", "two"):
            bridge.receive(delta(f"{n} ").model_copy(update={"session": session}))
        if n == 24:
            bridge.receive(notice("half").model_copy(update={"session": "one"}))
    batch, _ = bridge.take()
    said = [(e.session, e.type, getattr(e, "text", "")) for e in batch]
    whole = "".join(f"{n} " for n in range(50))
    assert [s for s in said if s[0] == "two"] == [("two", "stream_delta", whole)]
    first, half, rest = [s for s in said if s[0] == "one"]
    assert half == ("one", "notice", "half") and first[2] + rest[2] == whole
    assert first[2].endswith("24 ")
