"""What only one of several apps may have at a time, for as long as it lives: a byte of a file, locked.

The system takes the lock away when the app is gone, however it went, so that nothing stale is ever in the way.
"""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from hashlib import sha256
from pathlib import Path

BITS = 62
"""Of a name's digest: the byte that is locked for it. Offsets of files have one bit more."""


class Claim:
    """To what ``name`` stands for, among the apps that use the file at ``path``. One for each name in an app."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._byte = int.from_bytes(sha256(name.encode(errors="surrogatepass")).digest()[:8], "big") >> (64 - BITS)
        self._held = False

    def held(self) -> bool:
        """Whether this app has it, or gets it now; False while another one does. Where nothing can be locked nobody is
        known to be in the way."""
        if self._held:
            return True
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return True
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._byte)
        except OSError as error:
            os.close(descriptor)
            return error.errno not in (errno.EACCES, errno.EAGAIN)
        self._held = True
        weakref.finalize(self, os.close, descriptor)
        return True
