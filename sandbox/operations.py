"""What can be asked of the sandbox, who asks, and what comes back: frozen data, no behaviour.

Every operation goes through `Broker.run`: policy, risk, gate, backend, audit. Paths are as the model wrote them
(relative to the workspace, or absolute); only code inside the sandbox ever resolves them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: shown to the person and written to the audit log. ``person``: a person wants it run, at their word."""

    session: str = ""
    tool: str = ""
    call_id: str = ""
    person: bool = False


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A shell command line. ``timeout`` in seconds; ``background`` returns at once with a handle to read on."""

    command: str
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 120.0
    background: bool = False


@dataclass(frozen=True, slots=True)
class RunArgv:
    """A program with arguments, no shell. Used by ``sandbox exec`` and by callers that have no command line."""

    argv: tuple[str, ...]
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class PollBackground:
    """Read on from a background command: output from byte ``offset``; maybe stop it.

    ``wait``: seconds to wait for its end, at most; it answers at once when the command has ended.
    """

    handle: str
    offset: int = 0
    wait: float = 0.0
    stop: bool = False


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Bytes ``offset`` .. ``offset + length`` of a file (``length`` bounded by the caller)."""

    path: str
    offset: int = 0
    length: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ListFiles:
    """Entries below ``path``, ``depth`` levels deep, at most ``limit``, hidden and ignored ones only if ``all``."""

    path: str = "."
    depth: int = 1
    limit: int = 1000
    all: bool = False


@dataclass(frozen=True, slots=True)
class SearchFiles:
    """Lines matching a regular expression (or a literal), in files whose path matches ``glob``."""

    pattern: str
    path: str = "."
    glob: str | None = None
    literal: bool = False
    ignore_case: bool = False
    limit: int = 200


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Replace or create a file atomically.

    ``expected_sha256``: digest of the bytes the caller read before, or "" when the file must not exist yet; None skips
    the check. ``diff`` is a unified diff for the person; it is shown, never applied.
    """

    path: str
    data: bytes
    expected_sha256: str | None = None
    diff: str = ""


@dataclass(frozen=True, slots=True)
class DecodePicture:
    """The picture in a file, scaled down to at most ``width`` × ``height`` pixels, its aspect kept."""

    path: str
    width: int
    height: int


Operation = RunCommand | RunArgv | PollBackground | ReadFile | ListFiles | SearchFiles | WriteFile | DecodePicture


class Status(StrEnum):
    """How an operation ended. ``DENIED`` never started; ``CANCELLED`` may have had side effects."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Entry:
    """One directory entry. ``kind`` is file, dir, link or other; ``size`` in bytes."""

    path: str
    kind: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """One matching line, 1-based."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """``pixels``: RGBA, four bytes each, row by row, of ``width`` × ``height``. full_width, full_height: of the file's
    own pixels. kind: PNG, JPEG, GIF, WebP or BMP."""

    kind: str
    width: int
    height: int
    full_width: int
    full_height: int
    pixels: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an operation did.

    data: output of a command (stdout and stderr in order of arrival) or the bytes of a file.
    exit_code: of a command; when signal N ended it, 128 + N as shells count, or -N without a sandbox.
    handle: of a background command, while it lives.
    size, sha256: of the whole file read or written. total: output bytes in all, of which ``data`` may be the head.
    command: the line that ran instead, when a person edited it.
    blocked: protected paths the command made, which have been taken out of effect.
    reached: hosts a command reached through the proxy.
    error, suggestion: for the model and the person, when status is not OK.
    feedback: what a person said when denying. seconds: monotonic duration of the operation itself, gate excluded.
    """

    status: Status
    data: bytes = b""
    exit_code: int | None = None
    handle: str = ""
    size: int = 0
    sha256: str = ""
    total: int = 0
    entries: tuple[Entry, ...] = ()
    matches: tuple[Match, ...] = ()
    picture: Picture | None = None
    truncated: bool = False
    error: str = ""
    suggestion: str = ""
    feedback: str = ""
    command: str = ""
    blocked: tuple[str, ...] = ()
    reached: tuple[str, ...] = ()
    seconds: float = 0.0
