"""The files: Markdown that a person may edit by hand, where every bullet is one memory and all else stays as it is."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from engine.text import clean

Scope = Literal["project", "user"]
SCOPES: tuple[Scope, ...] = ("project", "user")
MOST_BYTES = 256 * 1024
# What goes into a prompt: more would crowd out the task.
MOST_LINES = 200
MOST_CHARS = 16_000
_BULLET = re.compile(r"^\s*[-*]\s+(.*\S)\s*$")
_HEADING = {"project": "# What is remembered of this project\n\n", "user": "# What is remembered everywhere\n\n"}


class Memory:
    """The memories that count in ``folder``. Reading never fails; changing raises OSError."""

    def __init__(self, data: Path, folder: Path) -> None:
        real = Path(os.path.realpath(folder))
        name = f"{real.name or 'root'}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}"
        self.paths: dict[Scope, Path] = {
            "project": data / "memory" / "projects" / name / "MEMORY.md",
            "user": data / "memory" / "MEMORY.md",
        }

    def lines(self, scope: Scope) -> tuple[str, ...]:
        """Every memory of a scope, in the order of its file."""
        return tuple(found[1] for line in self._read(scope).split("\n") if (found := _BULLET.match(line)))

    def prompt(self) -> tuple[tuple[str, str], ...]:
        """(scope, text) for the prompt, bounded: the newest lines, and how many were left out."""
        return tuple((_whose(scope), text) for scope in SCOPES if (text := _bounded(self.lines(scope))))

    def add(self, scope: Scope, text: str) -> None:
        """Save a new line at the end."""
        with self._changing(scope) as (before, write):
            write(f"{before.rstrip()}\n{'' if _ends_in_list(before) else chr(10)}- {text}\n")

    def replace(self, scope: Scope, before: str, text: str) -> bool:
        """Put ``text`` in the place of the memory ``before``, or remove that when ``text`` is empty; False when there
        is no such memory."""
        with self._changing(scope) as (content, write):
            lines = content.split("\n")
            at = next((n for n, line in enumerate(lines) if (f := _BULLET.match(line)) and f[1] == before), None)
            if at is None:
                return False
            lines[at : at + 1] = [f"- {text}"] if text else []
            write("\n".join(lines))
            return True

    def scope_of(self, text: str) -> Scope | None:
        """Where a memory stands, word for word; None when nowhere."""
        return next((scope for scope in SCOPES if text in self.lines(scope)), None)

    def _read(self, scope: Scope) -> str:
        try:
            with self.paths[scope].open("rb") as file:
                return clean(file.read(MOST_BYTES).decode("utf-8-sig", "replace").replace("\r\n", "\n"))
        except OSError:
            return ""

    @contextmanager
    def _changing(self, scope: Scope) -> Iterator[tuple[str, Callable[[str], None]]]:
        """The content and what replaces it, while no other process changes the file."""
        path = self.paths[scope]
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists() and path.stat().st_size > MOST_BYTES:
                raise OSError(f"{path} is larger than {MOST_BYTES // 1024} KB: shorten it first")
            yield self._read(scope) or _HEADING[scope], lambda text: _write(path, text)
        finally:
            os.close(lock)


def _whose(scope: Scope) -> str:
    return "of this project" if scope == "project" else "of the person, in every project"


def _bounded(lines: tuple[str, ...]) -> str:
    kept: list[str] = []
    room = MOST_CHARS
    for line in reversed(lines[-MOST_LINES:]):
        room -= len(line) + 3
        if room < 0:
            break
        kept.append(f"- {line}")
    left_out = len(lines) - len(kept)
    note = [f"({left_out} older left out; memory_search finds them)"] if left_out else []
    return "\n".join([*note, *reversed(kept)])


def _ends_in_list(content: str) -> bool:
    return _BULLET.match(content.rstrip().rsplit("\n", 1)[-1]) is not None


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=".memory-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
