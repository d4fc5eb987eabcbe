"""The transcript on a real (headless) screen: long against short, much Markdown against little, and against RichLog.

A frame is all of it: events in, layout, and what Textual does until the terminal would be written to. Times are of the
processor, since a frame that is ready waits for the next tick of the screen.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import RichLog

from engine import events as ev
from engine.events import AnyEvent
from tests.benchmarks.harness import interleaved, medians, ratio
from tui.signs import Signs
from tui.transcript.view import Transcript

NAME = "transcript"
TARGET = (
    "append + scroll at 100,000 blocks ≤ 1.2 × at 1,000; 200 KB of Markdown ≤ 4.4 × 50 KB and ≤ 3 × RichLog.write; "
    "100,000 events to first paint"
)

SIZE = (120, 40)
SHORT, LONG = 1_000, 100_000
PIECE = 512
ROUNDS = 5
STEPS = 30

PAGE = """## Step {n}

The parser reads *one* line at a time; `parse()` keeps **no state** between them, see [notes](https://example.com/{n}).
What follows is plain text that is long enough to be wrapped at the edge of the view, twice at least, as prose often is.

- first `item` of a list
- second item, a little longer
  - and one below it

```python
def step_{n}(line: str) -> int:
    return len(line) + {n}  # a comment
```

| name | value |
|------|------:|
| a    | {n}   |

"""
Shown = TypeVar("Shown", bound=Widget)


def run() -> dict[str, float | str]:
    """Ratios, and milliseconds for orientation."""
    return {**_length(), **_streaming()}


def _length() -> dict[str, float | str]:
    measured = interleaved(
        {"short": lambda: _on(_transcript, _steps(SHORT)), "long": lambda: _on(_transcript, _steps(LONG))},
        rounds=3,
    )
    opened = interleaved(
        {"short": lambda: _on(_transcript, _open(SHORT)), "long": lambda: _on(_transcript, _open(LONG))}, rounds=3
    )
    return {
        "append + scroll, long / short": ratio(measured, "long", "short"),
        "append + scroll, long, ms": medians(measured)["long"] * 1e3,
        "100,000 events to first paint, ms": medians(opened)["long"] * 1e3,
    }


def _streaming() -> dict[str, float | str]:
    measured = interleaved(
        {
            "50": lambda: _on(_transcript, _stream(50)),
            "200": lambda: _on(_transcript, _stream(200)),
            "RichLog": lambda: _on(_rich_log, _write(200)),
        },
        rounds=ROUNDS,
    )
    return {
        "streaming 200 KB / 50 KB": ratio(measured, "200", "50"),
        "streaming 200 KB / RichLog.write": ratio(measured, "200", "RichLog"),
        "streaming 200 KB, ms": medians(measured)["200"] * 1e3,
    }


def events(count: int) -> list[AnyEvent]:
    """Stored events that make one block each."""
    return [ev.UserMessage(seq=n, text=f"message {n}: some words about it") for n in range(1, count + 1)]


def markdown(kilobytes: int) -> Iterator[str]:
    """Markdown in pieces as a model writes it."""
    pages = "".join(PAGE.replace("{n}", str(n)) for n in range(kilobytes * 1000 // len(PAGE) + 1))
    text = pages[: kilobytes * 1000]
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _transcript() -> Transcript:
    return Transcript(signs=Signs())


def _rich_log() -> RichLog:
    return RichLog(wrap=True)


def _on(make: Callable[[], Shown], work: Callable[[Shown, Pilot[None]], Awaitable[float]]) -> float:
    """What ``work`` measures with a widget that fills the screen."""

    class Only(App[None]):
        def compose(self) -> ComposeResult:
            yield make()

    async def go() -> float:
        app = Only()
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            widget = app.screen.children[0]
            return await work(widget, pilot)  # type: ignore[arg-type]

    return asyncio.run(go())


def _steps(count: int) -> Callable[[Transcript, Pilot[None]], Awaitable[float]]:
    """Seconds a step takes: a block arrives, then the view moves."""
    stored = events(count)

    async def work(transcript: Transcript, pilot: Pilot[None]) -> float:
        transcript.feed(stored)
        await pilot.pause()
        start = time.process_time()
        for step in range(STEPS):
            transcript.feed([ev.UserMessage(seq=count + 1 + step, text=f"one more {step}")])
            await _frame(transcript)
            transcript.action_scroll_lines(-3)
            await _frame(transcript)
            transcript.action_go_to_end()
            await _frame(transcript)
        return (time.process_time() - start) / STEPS

    return work


def _open(count: int) -> Callable[[Transcript, Pilot[None]], Awaitable[float]]:
    stored = events(count)

    async def work(transcript: Transcript, pilot: Pilot[None]) -> float:
        start = time.process_time()
        transcript.rewind(stored)
        await _frame(transcript)
        return time.process_time() - start

    return work


def _stream(kilobytes: int) -> Callable[[Transcript, Pilot[None]], Awaitable[float]]:
    pieces = list(markdown(kilobytes))

    async def work(transcript: Transcript, pilot: Pilot[None]) -> float:
        start = time.process_time()
        for piece in pieces:
            transcript.feed([ev.StreamDelta(turn=1, index=0, kind="text", text=piece)])
            await _frame(transcript)
        return time.process_time() - start

    return work


def _write(kilobytes: int) -> Callable[[RichLog, Pilot[None]], Awaitable[float]]:
    pieces = list(markdown(kilobytes))

    async def work(log: RichLog, pilot: Pilot[None]) -> float:
        start = time.process_time()
        for piece in pieces:
            log.write(piece)
            await _frame(log)
        return time.process_time() - start

    return work


async def _frame(widget: Widget) -> None:
    """Let everything the widget asked for happen, and compose what would go to the terminal."""
    done = asyncio.Event()
    widget.call_next(widget.call_after_refresh, done.set)
    await done.wait()
