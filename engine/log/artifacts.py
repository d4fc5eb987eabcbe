"""Large outputs as files named by the hash of what they hold: stored once, checked whenever read."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path

from engine.log.errors import ArtifactDamaged
from engine.queries import ArtifactPage

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Artifacts:
    """A folder of artifacts. Safe from any thread and process: a file appears whole or not at all."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, data: bytes) -> str:
        """Store ``data`` unless it is there already, and return its digest. Durable on return; raises OSError."""
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        if _hash_of(path) == digest:
            return digest
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
        return digest

    def get(self, digest: str) -> bytes:
        """What was stored under ``digest``. Raises ArtifactDamaged when it is missing, torn or changed."""
        path = self._known(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise _damaged(digest, "is missing") from None
        except OSError as error:
            raise _damaged(digest, f"cannot be read ({error})") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise _damaged(digest, "does not hold what was stored in it")
        return data

    def page(self, digest: str, offset: int = 0, limit: int = 2000) -> ArtifactPage:
        """Lines ``offset`` .. ``offset + limit`` (from 0) and the number of all lines. Never raises: see ``error``.

        A damaged artifact still shows the lines that are there, beside the error.
        """
        seen = hashlib.sha256()
        lines: list[bytes] = []
        total = 0
        try:
            with self._known(digest).open("rb") as file:
                for number, line in enumerate(file):
                    seen.update(line)
                    total = number + 1
                    if offset <= number < offset + limit:
                        lines.append(line)
            error = "" if seen.hexdigest() == digest else str(_damaged(digest, "does not hold what was stored in it"))
        except FileNotFoundError:
            error = str(_damaged(digest, "is missing"))
        except OSError as failure:
            error = str(_damaged(digest, f"cannot be read ({failure})"))
        except ArtifactDamaged as failure:
            error = str(failure)
        return ArtifactPage(b"".join(lines).decode("utf-8", "replace"), total, error)

    def is_whole(self, digest: str) -> bool:
        """Whether the artifact is there and holds what was stored; in bounded memory."""
        return _DIGEST.fullmatch(digest) is not None and _hash_of(self._path(digest)) == digest

    def remove(self, digest: str) -> None:
        """Delete an artifact nobody refers to any more."""
        self._known(digest).unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        return self.root / digest[:2] / digest[2:]

    def _known(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise ArtifactDamaged("That is not the name of a stored output.", "Names are 64 hexadecimal digits.")
        return self._path(digest)


def _hash_of(path: Path) -> str:
    """The hash of a file's bytes, empty when it cannot be read."""
    seen = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                seen.update(block)
    except OSError:
        return ""
    return seen.hexdigest()


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _damaged(digest: str, what: str) -> ArtifactDamaged:
    return ArtifactDamaged(
        f"The stored output {digest[:12]}… {what}.", "Run the tool again if its whole output is needed."
    )
