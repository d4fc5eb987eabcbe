"""The lease: one writer a session, across processes. An OS lock, so a crash of the holder gives it back."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from engine.log.errors import SessionBusy

_TRIES = 5
_PAUSE = 0.01


@dataclass(frozen=True, slots=True)
class Holder:
    """Who has a lease, as far as its file says: 0 and empty when it does not."""

    pid: int = 0
    host: str = ""


class Lease:
    """A held lease. It ends with `release`, or with the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: Path) -> Lease:
        """Take the lease of the session whose folder is ``folder``, making the folder when needed.

        Raises SessionBusy when it is held, OSError when it cannot be written.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = _path(folder)
        # A look at the list holds the lock for an instant (see `holder`): that is no reason to refuse.
        for attempt in range(_TRIES):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if _locked(descriptor, path):
                _sign(descriptor)
                return cls(descriptor)
            os.close(descriptor)
            if attempt < _TRIES - 1:
                time.sleep(_PAUSE)
        raise _busy(folder)

    def release(self) -> None:
        """Give it back. Safe to call twice."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def holder(folder: Path) -> Holder | None:
    """Who holds the lease of that session now; None when nobody does."""
    try:
        descriptor = os.open(_path(folder), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _signature(descriptor)
    finally:
        os.close(descriptor)
    return None


def is_elsewhere(found: Holder | None) -> bool:
    """Whether a lease is held by another process than this one."""
    return found is not None and found != Holder(os.getpid(), socket.gethostname())


def forget(folder: Path) -> None:
    """Remove the lease file of a session that is going away. The caller holds the lease."""
    _path(folder).unlink(missing_ok=True)


def _path(folder: Path) -> Path:
    return folder / "lease"


def _locked(descriptor: int, path: Path) -> bool:
    """Lock the open file, and make sure it still is the one at ``path`` (it may have been removed meanwhile)."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(descriptor).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def _sign(descriptor: int) -> None:
    """Write who holds it. The lock is what counts, so a full disk is no reason to fail here."""
    signature = json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, signature, 0)
    except OSError:
        return


def _signature(descriptor: int) -> Holder:
    try:
        data = json.loads(os.pread(descriptor, 4096, 0))
        return Holder(int(data["pid"]), str(data["host"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Holder()


def _busy(folder: Path) -> SessionBusy:
    found = holder(folder) or Holder()
    who = f"process {found.pid} on {found.host}" if found.pid else "another process"
    return SessionBusy(
        f"Session {folder.name} is open in another window ({who}).",
        f"Close it there, or work on a copy: agent-tui sessions fork {folder.name}",
    )
