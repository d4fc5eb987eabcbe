"""Another attempt where it can help, announced, bounded, and never with half of the last one in it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from engine.events import TextBlock, Usage
from engine.models.base import BlockDelta, BlockEnd, BlockStart, Done, ModelError, Part, Restart, Start
from engine.models.retry import stream_with_retry
from engine.prompt.request import ModelRequest
from tests.fakes import Call, StrictServer, Turn, assert_append_only
from tests.fakes.asking import FORMATS, model_for, request_of
from tests.fakes.turns import Format


class Waits:
    """Sleeps that do not wait, and what was announced."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.announced: list[tuple[int, float, str]] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def announce(self, attempt: int, wait: float, error: ModelError) -> None:
        assert len(self.slept) == len(self.announced), "a wait is announced before it begins"
        self.announced.append((attempt, wait, error.kind))


class Scripted:
    """A model that fails as told: each attempt yields some parts, then raises, or ends."""

    spec = "scripted/model"
    context_window = 1000

    def __init__(self, *attempts: ModelError | None, parts: int = 0) -> None:
        self.attempts = list(attempts)
        self.parts = parts
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        try:
            for _ in range(self.parts):
                yield Start("m")
            if error := self.attempts.pop(0):
                raise error
            yield Done((), "end", "stop", Usage())
        finally:
            self.closed += 1

    async def aclose(self) -> None: ...


def busy(retry_after: float | None = None) -> ModelError:
    return ModelError("overloaded", "busy", retryable=True, retry_after=retry_after)


async def run(model: Scripted, waits: Waits, **bounds: float) -> list[Part]:
    stream = stream_with_retry(
        model,
        request_of(),
        on_retry=waits.announce,
        sleep=waits.sleep,
        **bounds,  # type: ignore[arg-type]
    )
    return [part async for part in stream]


@pytest.mark.parametrize("format", FORMATS)
async def test_an_answer_cut_in_the_middle_is_not_doubled(format: Format) -> None:
    turn = Turn(thinking="hm", text="The answer is here.", calls=(Call("fs_read", {"path": "a"}),), piece=4)
    cut = Turn(thinking="hm", text="The answer is not here.", cut_after=5, piece=4)
    waits, parts = Waits(), []
    async with StrictServer(format, [cut, turn]) as server:
        stream = stream_with_retry(model_for(server), request_of(), on_retry=waits.announce, sleep=waits.sleep)
        async for part in stream:
            parts.append(part)
        assert len(server.requests) == 2
        assert_append_only(server.requests)
    assert sum(isinstance(part, Restart) for part in parts) == 1
    restart = next(at for at, part in enumerate(parts) if isinstance(part, Restart))
    assert any(isinstance(part, BlockDelta) for part in parts[:restart])
    kept = parts[restart + 1 :]
    assert isinstance(kept[0], Start) and isinstance(kept[-1], Done)
    assert [part.index for part in kept if isinstance(part, BlockStart)] == [0, 1, 2]
    assert TextBlock(text=turn.text) in [part.block for part in kept if isinstance(part, BlockEnd)]
    assert [(attempt, kind) for attempt, _, kind in waits.announced] == [(1, "network")]


@pytest.mark.parametrize("format", FORMATS)
async def test_what_the_provider_asks_for_wins_over_the_backoff(format: Format) -> None:
    faults = [
        Turn(status=529, headers={"retry-after": "12"}),
        Turn(status=429, headers={"retry-after-ms": "30"}),
        Turn(status=500),
    ]
    waits = Waits()
    async with StrictServer(format, [*faults, Turn(text="ok")]) as server:
        stream = stream_with_retry(model_for(server), request_of(), on_retry=waits.announce, sleep=waits.sleep)
        parts = [part async for part in stream]
    assert waits.slept[:2] == [12.0, 0.03]
    assert waits.slept == [wait for _, wait, _ in waits.announced]
    assert [attempt for attempt, _, _ in waits.announced] == [1, 2, 3]
    assert isinstance(parts[-1], Done) and not any(isinstance(part, Restart) for part in parts)


async def test_the_backoff_grows() -> None:
    waits = Waits()
    with pytest.raises(ModelError):
        await run(Scripted(*(busy() for _ in range(9))), waits, attempts=9)
    lowest = [0.5 * 2**at for at in range(6)] + [30.0, 30.0]
    assert all(low <= wait <= 1.5 * low for low, wait in zip(lowest, waits.slept, strict=True))


async def test_what_cannot_be_helped_is_raised_at_once() -> None:
    waits, model = Waits(), Scripted(ModelError("auth", "no"), None)
    with pytest.raises(ModelError) as caught:
        await run(model, waits)
    assert caught.value.kind == "auth" and waits.slept == [] and len(model.attempts) == 1


async def test_attempts_are_counted() -> None:
    waits, model = Waits(), Scripted(*(busy() for _ in range(9)), parts=1)
    with pytest.raises(ModelError) as caught:
        await run(model, waits, attempts=3)
    assert caught.value.retryable and len(waits.slept) == 2 and model.closed == 3


async def test_the_last_failure_is_not_followed_by_a_restart() -> None:
    parts = []
    with pytest.raises(ModelError):
        async for part in stream_with_retry(
            Scripted(busy(), busy(), parts=1), request_of(), attempts=2, sleep=Waits().sleep
        ):
            parts.append(part)
    assert parts == [Start("m"), Restart(), Start("m")]


async def test_waiting_has_a_budget() -> None:
    waits = Waits()
    with pytest.raises(ModelError):
        await run(Scripted(busy(20.0), busy(20.0), busy(20.0), None), waits, budget=50.0)
    assert waits.slept == [20.0, 20.0]
    with pytest.raises(ModelError):
        await run(Scripted(busy(3600.0), None), waits)
    assert len(waits.slept) == 2


async def test_an_announcement_may_be_awaited() -> None:
    announced: list[int] = []

    async def announce(attempt: int, wait: float, error: ModelError) -> None:
        await asyncio.sleep(0)
        announced.append(attempt)

    stream = stream_with_retry(Scripted(busy(), None), request_of(), on_retry=announce, sleep=Waits().sleep)
    assert [type(part) async for part in stream] == [Done]
    assert announced == [1]


async def test_an_interrupt_ends_a_wait() -> None:
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    model = Scripted(busy(), None, parts=1)

    async def consume() -> None:
        async for _ in stream_with_retry(model, request_of(), sleep=sleep):
            pass

    task = asyncio.ensure_future(consume())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(model.attempts) == 1 and model.closed == 1


async def test_closing_closes_the_model_at_once() -> None:
    model = Scripted(None, parts=2)
    stream = stream_with_retry(model, request_of())
    assert [await anext(stream), model.closed] == [Start("m"), 0]
    await stream.aclose()  # type: ignore[attr-defined]
    assert model.closed == 1


@pytest.mark.parametrize("format", FORMATS)
async def test_closing_aborts_the_request_under_it(format: Format) -> None:
    async with StrictServer(format, [Turn(text="word " * 50, hang_after=6)]) as server:
        stream = stream_with_retry(model_for(server), request_of())
        async for part in stream:
            if isinstance(part, BlockDelta):
                break
        await stream.aclose()  # type: ignore[attr-defined]
        assert await asyncio.to_thread(server.wait_for_disconnect)


async def test_retries_are_not_printed_across_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert logging.getLogger("stamina").handlers
    await run(Scripted(busy(), None), Waits())
    assert capsys.readouterr().err == ""
