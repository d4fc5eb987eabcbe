"""The files: Markdown that a person may edit by hand, where every bullet is one memory and all else stays as it is."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import stat
import tempfile
import time
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
MOST_INJECTED = 16_000  # bytes
TRIES = 100
PAUSE = 0.02
_BULLET = re.compile(r"^(\s*[-*+]\s+)(.*\S)\s*$")
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
        return tuple(clean(found[2]) for line in _lines(self._read(scope)) if (found := _BULLET.match(line)))

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
            at = next((n for n, line in enumerate(lines) if _memory_in(line) == before), None)
            if at is None:
                return False
            bullet = _BULLET.match(lines[at].rstrip("\r").lstrip("\ufeff"))
            lines[at : at + 1] = [f"{bullet[1] if bullet else '- '}{text}"] if text else []
            write("\n".join(lines))
            return True

    def scope_of(self, text: str) -> Scope | None:
        """Where a memory stands, word for word; None when nowhere."""
        return next((scope for scope in SCOPES if text in self.lines(scope)), None)

    def _read(self, scope: Scope) -> str:
        """The file for reading: what cannot be read is as if it were not there."""
        try:
            return self._content(scope)
        except OSError:
            return ""

    def _content(self, scope: Scope) -> str:
        """The file byte for byte, odd bytes as surrogates; '' when there is none. Raises OSError when it is there and
        cannot be read: nothing may be written over it then."""
        try:
            descriptor = os.open(self.paths[scope], os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return ""
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise OSError(f"{self.paths[scope]} is no file")
            if about.st_size > MOST_BYTES:
                raise OSError(f"{self.paths[scope]} is larger than {MOST_BYTES // 1024} KB: shorten it first")
            return file.read().decode("utf-8", "surrogateescape")

    @contextmanager
    def _changing(self, scope: Scope) -> Iterator[tuple[str, Callable[[str], None]]]:
        """The content and what replaces it, while no other process changes the file."""
        path = self.paths[scope]
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _take(lock)
            # A link is a person's own arrangement: what it leads to is written.
            yield self._content(scope) or _HEADING[scope], lambda text: _write(Path(os.path.realpath(path)), text)
        finally:
            os.close(lock)


def _take(lock: int) -> None:
    """Raises OSError when another process holds it for too long."""
    for attempt in range(TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if attempt == TRIES - 1:
                raise OSError("another process is changing it; try again") from None
            time.sleep(PAUSE)


def _lines(content: str) -> list[str]:
    return [line.rstrip("\r") for line in content.removeprefix("\ufeff").split("\n")]


def _memory_in(line: str) -> str:
    found = _BULLET.match(line.rstrip("\r").removeprefix("\ufeff"))
    return clean(found[2]) if found else ""


def _whose(scope: Scope) -> str:
    return "of this project" if scope == "project" else "of the person, in every project"


def _bounded(lines: tuple[str, ...]) -> str:
    kept: list[str] = []
    room = MOST_INJECTED
    for line in reversed(lines[-MOST_LINES:]):
        room -= len(line.encode()) + 3
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
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
