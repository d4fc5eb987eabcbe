"""A limit that was reached, and how that is said to the model and the person."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from enum import StrEnum

from sandbox.policy import Limits


class Kind(StrEnum):
    """Which limit. The values are the names in a policy file."""

    CPU = "cpu_seconds"
    MEMORY = "memory_bytes"
    PROCESSES = "processes"
    OPEN_FILES = "open_files"
    FILE_SIZE = "file_bytes"
    WRITTEN = "written_bytes"
    FILES = "files"
    SCRATCH = "scratch_bytes"
    OUTPUT = "printed_bytes"


@dataclass(frozen=True, slots=True)
class Hit:
    """``stopped``: the command was ended for it; otherwise the kernel refused it more, and it went on as it could.
    ``sure``: the kernel or the meter said so; otherwise it is read from what the program printed."""

    kind: Kind
    stopped: bool = False
    sure: bool = True


_CPU_SIGNALS = (128 + signal.SIGXCPU, -signal.SIGXCPU)
_SIZE_SIGNALS = (128 + signal.SIGXFSZ, -signal.SIGXFSZ)
_TAIL = 4096

# What programs print when the kernel refuses them something: the C library's words, and those of some run-times.
_WORDS = (
    (Kind.OPEN_FILES, re.compile(rb"Too many open files")),
    (Kind.SCRATCH, re.compile(rb"No space left on device")),
    (Kind.FILE_SIZE, re.compile(rb"File too large|File size limit exceeded")),
    (Kind.MEMORY, re.compile(rb"Cannot allocate memory|MemoryError|std::bad_alloc|[Oo]ut of memory|OutOfMemoryError")),
    (
        Kind.PROCESSES,
        re.compile(
            rb"fork: (retry: )?Resource temporarily|Cannot fork|[Cc]an't start new thread|pthread_create failed"
            rb"|BlockingIOError: \[Errno 11\]|unable to create native thread"
        ),
    ),
)

_WHAT = {
    Kind.CPU: "it used more than {0:,g} s of processor time",
    Kind.MEMORY: "it needed more than {0:,} bytes of memory",
    Kind.PROCESSES: "it had more than {0:,} processes and threads at a time",
    Kind.OPEN_FILES: "one process had more than {0:,} files open",
    Kind.FILE_SIZE: "it wrote a file larger than the limit of {0:,} bytes",
    Kind.WRITTEN: "it wrote more than {0:,} bytes to the disk",
    Kind.FILES: "it made more than {0:,} files",
    Kind.SCRATCH: "it filled a private folder: /tmp, the home folder and /dev/shm hold {0:,} bytes each",
    Kind.OUTPUT: "it printed more than {0:,} bytes",
}
_DO = {
    Kind.CPU: "do less at a time",
    Kind.MEMORY: "work on less at a time, or with fewer processes at once (for example `-j2`)",
    Kind.PROCESSES: "use fewer at once (for example `-j4`), and check that nothing starts itself again and again",
    Kind.OPEN_FILES: "close files that are not needed any more",
    Kind.FILE_SIZE: "write several smaller files, or less",
    Kind.WRITTEN: "write less, or remove what is not needed any more as you go",
    Kind.FILES: "make fewer files, for example by packing them into one",
    Kind.SCRATCH: "write large things into the workspace instead",
    Kind.OUTPUT: "send the output to a file and look at parts of it",
}


def of_exit(code: int | None, output: bytes | bytearray) -> Hit | None:
    """The limit that an exit code or the end of the output tells of."""
    if code in (0, None):
        return None
    if code in _CPU_SIGNALS:
        return Hit(Kind.CPU, stopped=True)
    if code in _SIZE_SIGNALS:
        return Hit(Kind.FILE_SIZE, stopped=True)
    tail = bytes(output[-_TAIL:])
    return next((Hit(kind, sure=False) for kind, words in _WORDS if words.search(tail)), None)


def explain(hit: Hit, limits: Limits) -> tuple[str, str]:
    """The error and the suggestion for a limit that was reached."""
    what = _WHAT[hit.kind].format(getattr(limits, hit.kind.value))
    how = " and was stopped" if hit.stopped else " and was refused more" if hit.sure else ""
    lead = "" if hit.sure else "it seems that "
    rest = f"{_DO[hit.kind]}; a person can raise it in the policy"
    return f"{lead}{what}{how} (limit: {hit.kind.value})", rest
