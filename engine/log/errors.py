"""What can go wrong with the log, in words for a person, and what they can do about it."""

from __future__ import annotations

import errno
import sqlite3


class LogError(Exception):
    """Base of the log's errors. The message says what happened, ``suggestion`` what to do next."""

    def __init__(self, message: str, suggestion: str = "") -> None:
        super().__init__(message)
        self.suggestion = suggestion


class SessionBusy(LogError):
    """Another process (or another window of this one) writes this session."""


class NoSuchSession(LogError):
    """No stored session goes by that name."""


class LogUnreadable(LogError):
    """The database as a whole cannot be read."""


class ArtifactDamaged(LogError):
    """An artifact file is missing, torn or changed."""


DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file itself is hurt, as opposed to locked, full or out of reach."""
    return _sqlite_name(error).startswith(DAMAGE)


def is_no_database(error: sqlite3.Error) -> bool:
    """Whether there is no database in the file at all."""
    return _sqlite_name(error) == "SQLITE_NOTADB"


def unreadable(error: sqlite3.Error | OSError, path: object) -> LogUnreadable:
    """``error`` as an error about the whole database."""
    if isinstance(error, sqlite3.Error) and is_damage(error):
        return LogUnreadable(
            f"The session database {path} is damaged ({error}).",
            "Move the file aside and start again; what it holds stays in it for a rescue with sqlite3 '.recover'.",
        )
    return LogUnreadable(f"The session database {path} cannot be read: {explain(error)}", "Try again in a moment.")


def explain(error: sqlite3.Error | OSError | LogError) -> str:
    """Why something could not be saved, and what brings saving back."""
    if isinstance(error, LogError):
        return str(error)
    code = _sqlite_name(error) if isinstance(error, sqlite3.Error) else errno.errorcode.get(error.errno or 0, "")
    for names, text in _REASONS:
        if code.startswith(names):
            return f"{text} ({error})"
    return f"{error}"


_REASONS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("SQLITE_FULL", "ENOSPC", "EDQUOT"), "the disk is full; saving goes on by itself once there is space"),
    (("EFBIG",), "the file has reached the size limit of this shell; raise it with ulimit -f"),
    (("SQLITE_BUSY", "SQLITE_LOCKED"), "another program holds the database locked; saving goes on once it lets go"),
    (("SQLITE_READONLY", "EROFS"), "the data folder is read-only"),
    (("SQLITE_CANTOPEN", "EACCES", "EPERM", "ENOTDIR"), "the data folder cannot be written to; check its permissions"),
    (("SQLITE_CORRUPT", "SQLITE_NOTADB"), "the session database is damaged; move it aside to go on saving"),
    (("SQLITE_CONSTRAINT",), "another program has written into this session; close it there and open it again"),
    (("SQLITE_IOERR", "EIO"), "the disk refuses to write; saving goes on once it works again"),
)


def _sqlite_name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))
