"""A terminal that goes away never stops the app that writes to it."""

from __future__ import annotations

import os
from typing import IO

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from tui.driver import LastingFile


def gone_terminal() -> IO[str]:
    """The app's end of a terminal whose other end is closed: to write there is an error."""
    ours, theirs = os.openpty()
    os.close(ours)
    return os.fdopen(theirs, "w")


def test_a_gone_terminal_refuses_what_is_written() -> None:
    file = gone_terminal()
    file.write("x")
    with pytest.raises(OSError, match="5"):
        file.flush()


def test_the_writer_outlives_its_terminal() -> None:
    writer = WriterThread(LastingFile(gone_terminal()))  # type: ignore[arg-type]
    writer.start()
    for number in range(3 * MAX_QUEUED_WRITES):
        writer._queue.put(f"line {number}\n", timeout=10)
    writer._queue.put(None, timeout=10)
    writer.join(10)
    assert not writer.is_alive()
