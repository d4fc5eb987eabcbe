"""Where kept files lie: bytes by their digest, and lists of them by theirs."""

from __future__ import annotations

import json
import os
import tempfile
import time
import zlib
from pathlib import Path

from sandbox.shadow.scan import Entry, digest

DAY = 24 * 3600.0


class Store:
    """A folder of compressed bytes by digest (``blobs``) and of snapshots, each the list of a workspace's files."""

    def __init__(self, folder: Path) -> None:
        self._blobs = folder / "blobs"
        self._snapshots = folder / "snapshots"

    def put(self, data: bytes) -> str:
        """Keep ``data``; its digest. Raises OSError."""
        name = digest(data)
        path = self._path(name)
        try:
            os.utime(path)  # so that another process that tidies up meanwhile lets it be
        except FileNotFoundError:
            _write(path, zlib.compress(data, 1))
        return name

    def get(self, name: str) -> bytes:
        """The bytes of a digest. Raises OSError when they are not there or not what they were."""
        try:
            data = zlib.decompress(self._path(name).read_bytes())
        except zlib.error as error:
            raise OSError(f"the kept copy {name[:12]} is damaged") from error
        if digest(data) != name:
            raise OSError(f"the kept copy {name[:12]} is damaged")
        return data

    def keep(self, entries: dict[str, Entry]) -> str:
        """Keep a list; its name. Raises OSError."""
        rows = {path: [entry.kind, entry.content, entry.mode] for path, entry in entries.items()}
        data = json.dumps(rows, sort_keys=True, separators=(",", ":")).encode("utf-8", "surrogateescape")
        name = digest(data)
        _write(self._snapshots / name, zlib.compress(data, 1))
        return name

    def load(self, name: str) -> dict[str, Entry]:
        """A kept list. Raises OSError."""
        path = self._snapshots / Path(name).name
        try:
            data = zlib.decompress(path.read_bytes())
            if digest(data) != name:
                raise OSError(f"the snapshot {name[:12]} is damaged")
            rows = json.loads(data.decode("utf-8", "surrogateescape"))
            return {where: Entry(kind, content, mode) for where, (kind, content, mode) in rows.items()}
        except (zlib.error, ValueError) as error:
            raise OSError(f"the snapshot {name[:12]} is damaged") from error

    def tidy(self, days: float) -> int:
        """Forget snapshots older than ``days`` and bytes that no other holds; how many files went."""
        now, gone, held = time.time(), 0, set[str]()
        for path in self._snapshots.glob("*"):
            if now - path.stat().st_mtime > days * DAY:
                path.unlink(missing_ok=True)
                gone += 1
                continue
            try:
                held.update(entry.content for entry in self.load(path.name).values())
            except OSError:
                return gone  # what a damaged one holds cannot be told, so nothing is taken from it
        for path in self._blobs.glob("*/*"):
            if path.name not in held and now - path.stat().st_mtime > DAY:
                path.unlink(missing_ok=True)
                gone += 1
        return gone

    def _path(self, name: str) -> Path:
        return self._blobs / name[:2] / name


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, beside = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
