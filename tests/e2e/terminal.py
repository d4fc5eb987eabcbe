"""The real command in a real pseudo-terminal, and the screen it paints, read back as a person would see it.

A thread reads what the app writes all the time, as a terminal does, and feeds it to a `pyte` screen. Whoever waits,
waits for what the screen shows, never for time to pass.
"""

from __future__ import annotations

import errno
import os
import select
import signal as signals
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import ptyprocess  # type: ignore[import-untyped]
import pyte

from tests.e2e.cli import COMMAND, environment

PATIENCE = 30.0
"""Seconds after which what was waited for will not come."""

ROOT = Path(__file__).parents[2]
STRAY = (b"\x1b[<u", b"\x1b[<1u")
"""Ends of the keyboard protocol, which pyte would draw as text."""

MOUSE_AND_SCREEN = frozenset({1000, 1002, 1003, 1004, 1006, 1049, 2004})
"""Private modes that must be off once the app has gone."""

KEYS = {
    "enter": "\r", "escape": "\x1b", "tab": "\t", "shift+tab": "\x1b[Z", "backspace": "\x7f", "delete": "\x1b[3~",
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
    "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "alt+enter": "\x1b\r", "alt+up": "\x1b[1;3A", "space": " ",
    "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS",
    "f5": "\x1b[15~", "f10": "\x1b[21~", "f12": "\x1b[24~",
}  # fmt: skip


def bytes_of(key: str) -> str:
    """What a terminal sends for a key: ``ctrl+q``, ``alt+up``, ``f3``, ``enter``, or a character."""
    if key in KEYS:
        return KEYS[key]
    if key.startswith("ctrl+") and len(key) == 6:
        return chr(ord(key[-1]) & 0x1F)
    if key.startswith("alt+") and len(key) == 5:
        return "\x1b" + key[-1]
    if len(key) == 1:
        return key
    raise ValueError(f"there is no key {key!r}")


class Glass(pyte.Screen):
    """A screen that also remembers the private modes, the window's titles and the times it was rung."""

    def __init__(self, columns: int, lines: int) -> None:
        self.private: set[int] = set()
        self.ever: set[int] = set()
        self.titles: list[str] = []
        super().__init__(columns, lines)

    def set_mode(self, *modes: int, **more: Any) -> None:
        if more.get("private"):
            self.private |= set(modes)
            self.ever |= set(modes)
        super().set_mode(*modes, **more)

    def reset_mode(self, *modes: int, **more: Any) -> None:
        if more.get("private"):
            self.private -= set(modes)
        super().reset_mode(*modes, **more)

    def set_title(self, param: str) -> None:
        self.titles.append(param)

    def set_icon_name(self, param: str) -> None:
        self.titles.append(param)

    def select_graphic_rendition(self, *attributes: int, private: bool = False) -> None:
        if not private:
            super().select_graphic_rendition(*attributes)


class Terminal:
    """Runs ``agent-tui`` with ``arguments``: ``with Terminal(["demo"], home, folder) as term``.

    ``size`` is columns, lines. ``env`` adds to a bare environment whose home is ``home``. Leaving the block kills what
    is still there. `raw` is every byte that was painted.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        home: Path,
        cwd: Path,
        *,
        size: tuple[int, int] = (120, 40),
        env: Mapping[str, str] | None = None,
        command: Sequence[str] = COMMAND,
    ) -> None:
        columns, lines = size
        colours = {"COLORTERM": "truecolor", "PYTHONPATH": str(ROOT), "AGENT_TUI_SCRIPT_WAITING": "0"}
        self._glass = Glass(columns, lines)
        self._stream = pyte.ByteStream(self._glass)
        self._changed = threading.Condition()
        self._written = bytearray()
        self._ended = False
        self._process = ptyprocess.PtyProcess.spawn(
            [*command, *arguments],
            cwd=str(cwd),
            env=environment(home, **{**colours, **(env or {})}),
            dimensions=(lines, columns),
        )
        self._wake, self._waker = os.pipe()
        self._reader = threading.Thread(target=self._read, name="terminal", daemon=True)
        self._reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._process.isalive():
            self._process.kill(signals.SIGKILL)
            self.exit_code()
        self.hang_up()
        os.close(self._wake)
        os.close(self._waker)

    # --- what is to be seen --------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        return int(self._process.pid)

    @property
    def screen(self) -> list[str]:
        """The lines as shown now, without the blanks at their ends."""
        with self._changed:
            return [line.rstrip() for line in self._glass.display]

    @property
    def text(self) -> str:
        return "\n".join(self.screen)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and line, from 0."""
        with self._changed:
            return self._glass.cursor.x, self._glass.cursor.y

    @property
    def modes(self) -> frozenset[int]:
        """The private modes (``CSI ? n h``) that are on now."""
        with self._changed:
            return frozenset(self._glass.private)

    @property
    def modes_ever(self) -> frozenset[int]:
        """The private modes that have ever been on."""
        with self._changed:
            return frozenset(self._glass.ever)

    @property
    def invisible(self) -> str:
        """Characters, rules aside, painted in the colour of what is behind them."""
        with self._changed:
            cells = [cell for row in self._glass.buffer.values() for cell in row.values()]
        return "".join(cell.data for cell in cells if cell.data.strip(" │─") and cell.fg == cell.bg != "default")

    @property
    def titles(self) -> list[str]:
        """What the window was told to be called."""
        with self._changed:
            return list(self._glass.titles)

    @property
    def raw(self) -> bytes:
        with self._changed:
            return bytes(self._written)

    # --- waiting -------------------------------------------------------------------------------------------------

    def wait_for(self, what: str | Callable[[], object], timeout: float = PATIENCE) -> None:
        """Until the screen shows ``what``, or ``what()`` holds. Raises AssertionError with the screen as it is."""
        holds = (lambda: what in self.text) if isinstance(what, str) else what
        until = time.monotonic() + timeout
        with self._changed:
            while not holds():
                left = until - time.monotonic()
                if left <= 0 or self._over():
                    assert holds(), self._account(what)
                    return
                # Woken by every byte painted; and at times, for what shows elsewhere than on the screen.
                self._changed.wait(min(left, 0.1))

    def wait_gone(self, text: str, timeout: float = PATIENCE) -> None:
        """Until the screen does not show ``text`` any more."""
        self.wait_for(lambda: text not in self.text, timeout)

    def exit_code(self, timeout: float = PATIENCE) -> int:
        """Wait until the command has ended; its exit code, or minus the number of the signal that killed it."""
        until = time.monotonic() + timeout
        while self._process.isalive():
            with self._changed:
                assert time.monotonic() < until, self._account("the command has ended")
                self._changed.wait(0.02)
        self._reader.join(PATIENCE)
        process = self._process
        return -int(process.signalstatus) if process.signalstatus else int(process.exitstatus or 0)

    # --- doing ---------------------------------------------------------------------------------------------------

    def send(self, text: str | bytes) -> None:
        """Write ``text`` as it is, in one piece."""
        self._process.write(text if isinstance(text, bytes) else text.encode())

    def keys(self, *names: str) -> None:
        """Press keys, one after the other."""
        for name in names:
            self.send(bytes_of(name))

    def say(self, text: str) -> None:
        """Type ``text`` as a person does, and send it once it shows."""
        self.send(text)
        self.wait_for(text[-20:])
        self.keys("enter")

    def resize(self, columns: int, lines: int) -> None:
        with self._changed:
            self._glass.resize(lines, columns)
        self._process.setwinsize(lines, columns)

    def kill(self, signal: signals.Signals) -> None:
        """Send a signal to the app alone."""
        os.kill(self.pid, signal)

    def hang_up(self) -> None:
        """Close the terminal's window: nobody reads or writes it any more. There is no screen after that."""
        os.write(self._waker, b".")
        self._reader.join(PATIENCE)
        self._process.fileobj.close()

    # --- underneath ----------------------------------------------------------------------------------------------

    def _over(self) -> bool:
        return self._ended and not self._process.isalive()

    def _read(self) -> None:
        """Until the terminal is closed, at the app's end or at ours. A read that waits would keep it open."""
        while True:
            ready, _, _ = select.select([self._process.fd, self._wake], [], [])
            piece = b"" if self._wake in ready else self._take()
            with self._changed:
                if piece:
                    self._written += piece
                    for stray in STRAY:
                        piece = piece.replace(stray, b"")
                    self._stream.feed(piece)
                else:
                    self._ended = True
                self._changed.notify_all()
            if self._ended:
                return

    def _take(self) -> bytes:
        try:
            return os.read(self._process.fd, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b""

    def _account(self, what: object) -> str:
        alive = "running" if self._process.isalive() else f"ended with {self._process.exitstatus}"
        shown = "\n".join(f"|{line}" for line in self.screen)
        tail = bytes(self._written[-600:]) if not shown.replace("|", "").strip() else b""
        return f"waited for {what!r}; the app is {alive}; the screen:\n{shown}\n{tail!r}"
