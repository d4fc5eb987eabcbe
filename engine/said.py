"""What a person said before, for saying it again: a file of lines that is only ever appended to, and unsent drafts.

One file for all folders, because a search knows what it looks for; each line names its folder, because walking back
should only meet what was said about this one. Several apps may write at once. What looks like a secret is not kept.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from engine.claim import Claim
from engine.keepsake import keep, recall
from engine.memory.checks import is_secret

LONGEST = 40_000
"""Characters of one text; a longer one is not kept."""
LARGEST = 1_000_000
"""Bytes of the file, at which its older half is dropped."""
MOST = 1_000
MOST_DRAFTS = 10
PATIENCE = 2.0
"""Seconds that another app may take with the files."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """Oldest first. ``here``: said in this folder, ``elsewhere``: in others. ``draft``: what was not sent."""

    here: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    draft: str = ""


class Said:
    """``state``: the folder of the files, `Home.state`; ``folder``: where the person works. Every call reads or writes
    files and may wait for another app to be done with them, so that none belongs on the thread of the screen."""

    def __init__(self, state: Path, folder: Path) -> None:
        self._lines, self._drafts, self._lock = state / "said.jsonl", state / "drafts.json", state / "said.lock"
        self._folder = str(folder)
        self._claim = Claim(state / "drafts.lock", self._folder)

    def load(self) -> Recalled:
        """What there is; damaged lines are passed over. A draft that another app is still at work on is not offered."""
        here: deque[str] = deque(maxlen=MOST)
        elsewhere: deque[str] = deque(maxlen=MOST)
        for line in self._read().splitlines():
            folder, text = _parsed(line)
            if text:
                (here if folder == self._folder else elsewhere).append(text)
        draft = recall(self._drafts).get(self._folder) if self._claim.held() else ""
        return Recalled(tuple(here), tuple(elsewhere), draft if isinstance(draft, str) else "")

    def add(self, text: str) -> bool:
        """Append ``text``; False when it is too long or looks like a secret. Raises OSError."""
        if not _may_stay(text):
            return False
        line = json.dumps({"folder": self._folder, "text": text}).encode() + b"\n"
        with self._alone():
            descriptor = os.open(self._lines, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "r+b") as file:
                os.fchmod(file.fileno(), 0o600)
                size = file.seek(0, os.SEEK_END)
                # A line that was cut off must not take this one with it.
                torn = size and os.pread(file.fileno(), 1, size - 1) != b"\n"
                file.write(b"\n" + line if torn else line)
            if size + len(line) > LARGEST:
                self._drop_older_half()
        return True

    def keep_draft(self, text: str, taken: str = "") -> None:
        """Keep ``text`` for the next start in this folder. Without one, the draft ``taken`` at this start is gone; one
        that another app left stays. Raises OSError."""
        with self._alone():
            drafts = {name: kept for name, kept in recall(self._drafts).items() if isinstance(kept, str)}
            before = dict(drafts)
            if _may_stay(text):
                drafts.pop(self._folder, None)
                drafts[self._folder] = text
            elif taken and drafts.get(self._folder) == taken:
                del drafts[self._folder]
            if drafts != before:
                keep(self._drafts, dict(list(drafts.items())[-MOST_DRAFTS:]))

    def keep_typed(self, text: str, taken: str) -> None:
        """`keep_draft` while it is being typed, lest the app be killed. Where several are open in this folder only the
        first of them does that: they would take turns in wiping out what the others kept."""
        if self._claim.held():
            self.keep_draft(text, taken)

    # --- files -------------------------------------------------------------------------------------------------------

    def _read(self) -> bytes:
        try:
            with self._lines.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 2 * LARGEST))
                return file.read(2 * LARGEST)
        except OSError:
            return b""

    def _drop_older_half(self) -> None:
        newest = self._read()[-LARGEST // 2 :].partition(b"\n")[2]
        beside = self._lines.with_suffix(".new")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(newest)
        beside.replace(self._lines)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other app writes meanwhile. Raises TimeoutError, an OSError, when another does for too long."""
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "rb") as lock:
            _take(lock.fileno())
            yield


def _take(lock: int) -> None:
    end = monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if monotonic() > end:
                raise TimeoutError("another app holds what was said before") from None
            sleep(0.01)
        else:
            return


def _parsed(line: bytes) -> tuple[str, str]:
    """Folder and text of a line; both empty when it is damaged."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return "", ""
    folder, text = (found.get("folder"), found.get("text")) if isinstance(found, dict) else (None, None)
    return (folder, text) if isinstance(folder, str) and isinstance(text, str) else ("", "")


def _may_stay(text: str) -> bool:
    return bool(text.strip()) and len(text) <= LONGEST and not is_secret(text)
