"""Which program a command would really run, and whether it is still the one that was first used here."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Program:
    """An executable: real path, digest of its bytes, and whether those changed since it was first used."""

    path: str
    sha256: str
    changed: bool = False


class Identities:
    """Trust on first use. ``store`` is a JSON file: real path to digest and the file facts it was computed for."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._known: dict[str, dict[str, str]] | None = None

    def find(self, name: str, search_path: str, cwd: Path, workspace: Path) -> Program | None:
        """The program ``name`` means in ``cwd``, None when there is none.

        A program of the workspace itself changes all the time and is never reported as changed.
        """
        found = shutil.which(str(cwd / name) if "/" in name else name, path=search_path)
        if found is None:
            return None
        real = Path(found).resolve()
        try:
            status = real.stat()
            facts = f"{status.st_ino} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size}"
            known = self._load().get(str(real))
            digest = known["sha256"] if known and known["facts"] == facts else _digest(real)
        except OSError:
            return None
        if real.is_relative_to(workspace):
            return Program(str(real), digest)
        if known is None or (known["sha256"] == digest and known["facts"] != facts):
            self._remember(str(real), digest, facts)
        return Program(str(real), digest, changed=known is not None and known["sha256"] != digest)

    def accept(self, program: Program) -> None:
        """A person approved running the changed program: from now on it is the known one."""
        status = Path(program.path).stat()
        facts = f"{status.st_ino} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size}"
        self._remember(program.path, program.sha256, facts)

    def _load(self) -> dict[str, dict[str, str]]:
        if self._known is None:
            try:
                data = json.loads(self._store.read_text(encoding="utf-8"))
            except (FileNotFoundError, ValueError):
                data = {}
            self._known = {
                path: entry
                for path, entry in (data.items() if isinstance(data, dict) else ())
                if isinstance(entry, dict)
                and isinstance(entry.get("sha256"), str)
                and isinstance(entry.get("facts"), str)
            }
        return self._known

    def _remember(self, path: str, sha256: str, facts: str) -> None:
        known = self._load()
        known[path] = {"sha256": sha256, "facts": facts}
        self._store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self._store.with_name(f"{self._store.name}.{os.getpid()}.new")
        temporary.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")
        temporary.replace(self._store)


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()
