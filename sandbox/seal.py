"""What makes the record tamper-evident, kept apart from it: a secret of this machine, and the end of the chain.

Both lie in ``NAME.seal`` beside the folder ``NAME`` of the log, readable by this user only. Every record's hash, and
the head, are keyed with the secret (HMAC-SHA256): whoever can rewrite the log, but cannot read the secret, can make
neither a record nor a head that fits. What that promises, and what not: nothing in the sandbox can reach either
folder; a program that got at the log alone (a backup, a synchronised folder, a mistake) is found out; a program that
runs outside as this user can read the secret and could forge all of it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GENESIS = "0" * 64
_KEY_BYTES = 32
_HEAD_SIZE = 400


@dataclass(frozen=True, slots=True)
class Key:
    """``since``: number of the first record that is sealed with it."""

    secret: bytes
    since: int = 1

    def digest(self, text: str) -> str:
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain: number and hash of the newest record, length of the newest file in bytes. ``base``: number
    and hash of the last record that was removed because the log is bounded; the chain begins after it."""

    seq: int = 0
    hash: str = GENESIS
    size: int = 0
    base_seq: int = 0
    base_hash: str = GENESIS


class Seal:
    """The secret and the head of the log in ``log_folder``."""

    def __init__(self, log_folder: Path) -> None:
        self.folder = log_folder.with_name(f"{log_folder.name}.seal")
        self._head, self._key = self.folder / "head", self.folder / "key"

    def key(self) -> Key | None:
        """The secret; None when there is none that can be used."""
        try:
            data = json.loads(self._key.read_bytes())
            secret = bytes.fromhex(data["key"])
            return Key(secret, int(data["since"])) if len(secret) == _KEY_BYTES else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def make_key(self, since: int) -> Key:
        """A new secret, stored before it is used. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        key = Key(secrets.token_bytes(_KEY_BYTES), since)
        new = self._key.with_name("key.new")
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "w") as file:
            json.dump({"key": key.secret.hex(), "since": since}, file)
            file.flush()
            os.fsync(fd)
        new.replace(self._key)
        return key

    def head(self, key: Key | None) -> Head | None:
        """The stored end of the chain; None when it is missing, unreadable or not sealed with ``key``."""
        try:
            data = json.loads(self._head.read_bytes())
            mac = data.pop("mac")
            head = Head(**data)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        if key is None or not isinstance(mac, str) or not hmac.compare_digest(_mac(head, key), mac.encode()):
            return None
        return head

    def store(self, head: Head, key: Key) -> None:
        """Overwrite in place: always the same length, so that one write replaces all of it."""
        text = json.dumps(_fields(head) | {"mac": _mac(head, key).decode()}).ljust(_HEAD_SIZE)
        fd = os.open(self._head, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.pwrite(fd, text.encode(), 0)
        finally:
            os.close(fd)


def _fields(head: Head) -> dict[str, Any]:
    return {name: getattr(head, name) for name in Head.__slots__}


def _mac(head: Head, key: Key) -> bytes:
    return key.digest("head " + json.dumps(_fields(head), sort_keys=True)).encode()
