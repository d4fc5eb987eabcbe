"""Watches the theme files while the app runs, so that one being written is seen as it is saved."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

log = logging.getLogger(__name__)

# Twice a second is soon enough for a person who saves a file, and nearly nothing for the machine.
STEP_MS = 500


def watch(folders: Sequence[Path], changed: Callable[[], None]) -> Callable[[], None]:
    """Call ``changed`` on a thread of its own after any file in ``folders`` changed; returns what ends it.

    A folder that does not exist is not watched. The thread is never waited for: quitting must not take half a second.
    """
    stop = threading.Event()
    there = [folder for folder in folders if folder.is_dir()]
    threading.Thread(target=_watch, args=(there, changed, stop), name="theme files", daemon=True).start()
    return stop.set


def _watch(folders: Sequence[Path], changed: Callable[[], None], stop: threading.Event) -> None:
    from watchfiles import watch as changes

    try:
        for _ in changes(*folders, stop_event=stop, step=STEP_MS, recursive=False, raise_interrupt=False):
            changed()
    except (OSError, RuntimeError):
        log.warning("theme files cannot be watched; a changed one is seen at the next start", exc_info=True)
