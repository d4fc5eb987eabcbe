"""Keeping a workspace's files aside and putting them back."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox.shadow.put_back import put_back, take_away
from sandbox.shadow.scan import LEFT, REST, Entry, Scanner
from sandbox.shadow.store import Store

DAYS_KEPT = 30.0


@dataclass(frozen=True, slots=True)
class Kept:
    """A snapshot by its name. left_out: what is not in it and cannot be put back, in words."""

    snapshot: str
    files: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """How a path differs now from a snapshot."""

    path: str
    what: Literal["created", "changed", "deleted"]


@dataclass(frozen=True, slots=True)
class Restored:
    """before: the snapshot of what was there, to go back to. paths: what was put back; problems: what could not be."""

    before: str
    paths: tuple[str, ...]
    problems: tuple[str, ...] = ()


class Shadow:
    """The kept copies of one workspace, in ``store``. Thread-safe; every method does I/O and may raise OSError."""

    def __init__(self, workspace: Path, store: Path) -> None:
        self._workspace = workspace
        self._store = Store(store)
        self._scanner = Scanner(workspace)
        self._lock = threading.Lock()

    def keep(self) -> Kept:
        """Keep the files as they are now."""
        with self._lock:
            scan = self._scanner.scan(self._store.put)
            return Kept(self._store.keep(scan.entries), len(scan.entries), scan.left_out)

    def changes(self, snapshot: str) -> tuple[Change, ...]:
        """What differs now from ``snapshot``, by path."""
        with self._lock:
            return _changes(self._store.load(snapshot), self._scanner.scan(self._store.put).entries)

    def between(self, earlier: str, later: str) -> tuple[Change, ...]:
        """What differs in the snapshot ``later`` from ``earlier``."""
        return _changes(self._store.load(earlier), self._store.load(later))

    def restore(self, snapshot: str, paths: Collection[str] | None = None) -> Restored:
        """Make the workspace (or only ``paths`` of it) what it was, what was created since included. What is now there
        is kept first. A path that cannot be put back is a problem and keeps no other from it."""
        with self._lock:
            wanted = self._store.load(snapshot)
            now = self._scanner.scan(self._store.put).entries
            before = self._store.keep(now)
            changes = [one for one in _changes(wanted, now) if paths is None or one.path in paths]
            done, problems = [], []
            # What has to go goes first: a file may stand where a folder was.
            for change in sorted(changes, key=lambda one: one.what != "created"):
                try:
                    self._undo(change, wanted.get(change.path))
                except OSError as error:
                    problems.append(f"{change.path}: {error.strerror or error}")
                else:
                    done.append(change.path)
            return Restored(before, tuple(sorted(done)), tuple(problems))

    def close(self) -> None:
        """End what is under way: quitting must not wait for a large folder."""
        self._scanner.stop()

    def tidy(self) -> int:
        """Forget what is older than 30 days; how many files went."""
        with self._lock:
            return self._store.tidy(DAYS_KEPT)

    def _undo(self, change: Change, entry: Entry | None) -> None:
        if entry is None:
            take_away(self._workspace, change.path)
        else:
            data = self._store.get(entry.content) if entry.kind == "file" else b""
            put_back(self._workspace, change.path, entry, data)


def _changes(before: dict[str, Entry], now: dict[str, Entry]) -> tuple[Change, ...]:
    """What was not looked into, then or now, is no change; where not all was, nothing counts as made or deleted."""
    partial = REST in before or REST in now
    found = []
    for path in sorted(before.keys() | now.keys()):
        was, is_now = before.get(path), now.get(path)
        if LEFT in (was, is_now) or was == is_now:
            continue
        if was is not None and is_now is not None:
            found.append(Change(path, "changed"))
        elif not partial:
            found.append(Change(path, "created" if was is None else "deleted"))
    return tuple(found)
