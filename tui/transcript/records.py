"""Numbered byte strings in a private file without a name: nobody else can open it, and once closed it is gone."""

from __future__ import annotations

import os
import tempfile
import weakref
from array import array
from io import FileIO

FOLDER = "/var/tmp"
"""Where files may be large: what lies in ``/tmp`` is in memory on many machines."""
REWRITTEN_AT = 4_000_000
"""Bytes from which on a file is written anew when more than half of it is of no use any more."""


class Records:
    """No file is made before the first record. `add` and `change` raise OSError where nothing can be written, and all
    is as it was; `read` where nothing can be read."""

    def __init__(self) -> None:
        self._file: FileIO | None = None
        self._close = weakref.finalize(self, _nothing)
        self._closed = False
        self._starts, self._sizes = array("q"), array("q")
        self._end = self._used = 0
        self._rewrite_at = REWRITTEN_AT

    def __len__(self) -> int:
        return len(self._starts)

    def size(self, number: int) -> int:
        """The bytes of a record."""
        return self._sizes[number]

    def add(self, data: bytes) -> None:
        """Write another record; its number is that of records before."""
        start = self._write(data)
        self._starts.append(start)
        self._sizes.append(len(data))
        self._used += len(data)

    def change(self, number: int, data: bytes) -> None:
        """Write a record anew."""
        start = self._write(data)
        self._used += len(data) - self._sizes[number]
        self._starts[number], self._sizes[number] = start, len(data)
        if self._end > max(2 * self._used, self._rewrite_at):
            self._rewrite()

    def read(self, number: int) -> bytes:
        """A record."""
        if self._file is None:
            raise OSError("the file is closed")
        size = self._sizes[number]
        data = os.pread(self._file.fileno(), size, self._starts[number])
        if len(data) != size:
            raise OSError("the file is shorter than it was")
        return data

    def close(self) -> None:
        """Give the file up, with all that is in it."""
        self._closed, self._file = True, None
        self._close()

    def _write(self, data: bytes) -> int:
        if self._closed:
            raise OSError("the file is closed")
        if self._file is None:
            self._take(_new_file())
        assert self._file is not None
        _put(self._file, data, self._end)
        start, self._end = self._end, self._end + len(data)
        return start

    def _take(self, file: FileIO) -> None:
        self._close()
        self._file, self._close = file, weakref.finalize(self, file.close)

    def _rewrite(self) -> None:
        """Leave out what is of no use any more. Where that cannot be done the file stays as it is for a while."""
        try:
            file = _new_file()
            starts, end = array("q"), 0
            for number in range(len(self)):
                data = self.read(number)
                _put(file, data, end)
                starts.append(end)
                end += len(data)
        except OSError:
            self._rewrite_at = 2 * self._end
            return
        self._take(file)
        self._starts, self._end, self._rewrite_at = starts, end, REWRITTEN_AT


def _nothing() -> None:
    """There is no file yet."""


def _new_file() -> FileIO:
    folder = None if os.environ.get("TMPDIR") or not os.access(FOLDER, os.W_OK) else FOLDER
    return tempfile.TemporaryFile(buffering=0, dir=folder)


def _put(file: FileIO, data: bytes, start: int) -> None:
    """Write all of ``data``: a disk that becomes full takes the beginning of it without a word."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(file.fileno(), rest, start)
        rest, start = rest[written:], start + written
