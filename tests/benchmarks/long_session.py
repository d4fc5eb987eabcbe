"""A stored session of any length, as days of work leave one behind: made once, then copied wherever it is needed."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from engine import events as ev
from engine.log import LogStore, writer
from engine.paths import Home

LAST_WORDS = "the-very-end-of-it"
"""In the newest answer: when they are on the screen, so is the end of the session."""
_STEP = 4


def home_with_session(root: Path, events: int) -> str:
    """Put a home with one session of about ``events`` events, and an empty folder ``work``, into ``root``; its id."""
    home = Home(root / "data", root / "config", root / "cache")
    (root / "work").mkdir(parents=True)
    kept = Path(tempfile.gettempdir()) / f"agent-tui-long-{events}-{_recipe()}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            made = Path(scratch) / "data"
            _write(Home(made, Path(scratch) / "config", Path(scratch) / "cache"), events)
            made.rename(kept)
    shutil.copytree(kept, home.data)
    found = LogStore(home).newest(str(_folder()))
    assert found is not None
    return found


def _folder() -> Path:
    """The folder the session worked in: it must be there, and the same whenever the session is used."""
    folder = Path(tempfile.gettempdir()).resolve() / "agent-tui-long-work"
    folder.mkdir(exist_ok=True)
    return folder


def _recipe() -> str:
    """Another recipe makes another session."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def _write(home: Home, events: int) -> None:
    # What is made here can be made again: no wait for the disk after every run.
    with patch.object(writer, "DURABLE", frozenset()):
        log = LogStore(home).create()
        for event in _events(events):
            log.append(event)
        log.close()


def _events(count: int) -> Iterator[ev.Event]:
    yield ev.SessionStarted(cwd=str(_folder()), model="openai-chat/test", app_version="0", approve="sandboxed")
    turns = max(1, (count - 4) // _STEP)
    for turn in range(1, turns + 1):
        yield from _turn(turn)
    newest = 1 + turns * _STEP
    yield ev.Compacted(number=1, kind="summary", reason="asked", keep_from=newest + 1, summary="Shapes were measured.")
    yield ev.UserMessage(text="What is left?")
    yield ev.AssistantMessage(
        turn=turns + 1, model="openai-chat/test", blocks=(ev.TextBlock(text=f"Nothing: {LAST_WORDS}"),)
    )


def _turn(turn: int) -> Iterator[ev.Event]:
    """A message now and then, an answer that reads a file, and what was in it."""
    if turn % 10 == 1:
        yield ev.UserMessage(text=f"Please look into shape {turn}, its area seems to be wrong.")
    else:
        yield ev.RuntimeUpdate(kind="context", text=f"{turn} % used")
    call = ev.ToolCall(id=f"call_{turn}", name="fs_read", input={"path": f"shapes/s{turn % 97}.py"})
    words = ev.TextBlock(text=f"I read **shape {turn % 97}** to see how `area()` is worked out.")
    yield ev.TurnStarted(turn=turn, model="openai-chat/test")
    yield ev.AssistantMessage(turn=turn, model="openai-chat/test", blocks=(words, call), stop="tool_calls")
    yield ev.ToolResult(
        call_id=call.id, turn=turn, name="fs_read", status="ok", summary="6 lines", seconds=0.01,
        text="def area(width, height):\n    return width * height\n" * 3, files_read=(f"shapes/s{turn % 97}.py",),
    )  # fmt: skip
