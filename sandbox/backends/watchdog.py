"""A very small process that outlives the app by a moment: when the app is killed, it kills what the app had started.

bwrap's own die-with-parent is the second wall: it has a gap while bwrap still sets up. The watchdog has none, because
a process tells it nothing itself: the app reports each process group before that group is let run.
"""

from __future__ import annotations

import subprocess
import threading

# Reads "+ GROUP" and "- GROUP" lines; at end of file (the app is gone) kills every group that is still listed.
_SCRIPT = """
trap '' HUP INT TERM QUIT
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
  esac
done
for group in $groups; do kill -9 "-$group"; done
"""


class Watchdog:
    """Knows the process groups of this app. Thread-safe; one for the whole app (see ``shared``)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, group: int) -> None:
        """Watch a process group from now on."""
        with self._lock:
            self._groups.add(group)
            self._tell(f"+ {group}\n")

    def remove(self, group: int) -> None:
        """The group has ended."""
        with self._lock:
            self._groups.discard(group)
            self._tell(f"- {group}\n")

    def _tell(self, line: str) -> None:
        if self._process is None:
            self._start()
        elif not self._write(line):
            self._process.wait()
            self._start()

    def _start(self) -> None:
        """Start the watchdog (again) and tell it everything there is to watch."""
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
        self._write("".join(f"+ {group}\n" for group in self._groups))

    def _write(self, text: str) -> bool:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()
        except OSError:
            return False
        return True


shared = Watchdog()
