"""The terminal as the app writes to it: one that may go away while it is being written to."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from typing import IO


class LastingFile:
    """A file that takes what is written whether or not anybody is left to read it.

    The thread that writes the terminal ends at the first error, and from then on its queue only fills: the thirty-first
    write would stop the app for good. A hang-up comes with a SIGCONT, upon which the app paints anew, so a terminal
    that went away gets there quickly. That nobody reads is said by SIGHUP; here there is nothing to add.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write ``text``, as far as it goes."""
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        """Pass on what was written, as far as it goes."""
        with suppress(OSError):
            self._file.flush()

    def fileno(self) -> int:
        """The file's number."""
        return self._file.fileno()


class LastingDriver(LinuxDriver):
    """The driver of every app of ours in a real terminal."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._file: Any = LastingFile(self._file)
