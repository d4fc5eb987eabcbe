"""todo.md in the session's own folder: written by the model's tool or by a person's editor, watched for the latter."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024


class TodoFile:
    """Calls ``on_edit(text)`` when someone other than the app changed the file. Lives on the engine's event loop."""

    def __init__(self, path: Path, on_edit: Callable[[str], None]) -> None:
        self._path = path
        self._on_edit = on_edit
        self._known = self.read()
        self._stop = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    def watch(self) -> None:
        """Begin to watch; creates the session's folder."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._watching = asyncio.create_task(self._watch())

    def read(self) -> str:
        """The text now; '' when there is no file or it cannot be read."""
        try:
            with self._path.open("rb") as file:
                return file.read(MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    def known(self) -> str:
        """Read the text and take it as the app's own, so that it does not count as an edit."""
        self._known = self.read()
        return self._known

    def write(self, text: str) -> None:
        """Replace the text for a person who edited it in the app. Raises OSError."""
        self._known = text
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(self._path)

    async def close(self) -> None:
        self._stop.set()
        if self._watching:
            await asyncio.wait({self._watching})

    async def _watch(self) -> None:
        from watchfiles import awatch

        try:
            async for _ in awatch(self._path.parent, stop_event=self._stop, debounce=200, step=50, recursive=False):
                text = self.read()
                if text != self._known:
                    self._known = text
                    self._on_edit(text)
        except (OSError, RuntimeError):
            log.warning("todo.md cannot be watched; edits made outside the app will not be seen", exc_info=True)
