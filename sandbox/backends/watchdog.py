"""A very small process that outlives the app by a moment: when the app is killed, it kills what the app had started.

bwrap's own die-with-parent is the second wall: it has a gap while bwrap still sets up. The watchdog has none, because
a process tells it nothing itself: the app reports each process group before that group is let run. It also removes the
folders of cgroups the app has made, however the app ended; what even the watchdog does not live to see is swept by the
next start (`sandbox.limits.owners`).
"""

from __future__ import annotations

import signal
import subprocess
import threading
from pathlib import Path

# Reads "+ GROUP", "- GROUP" and "@ FOLDER" lines; at end of file (the app is gone) kills every group that is still
# listed, then removes the folders: for as long as it takes the kernel to bury what was in them, at most some seconds.
_SCRIPT = """
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="${groups%% "$group" *} ${groups#* "$group" }" ;;
    @) set -- "$@" "$group" ;;
  esac
done
for group in $groups; do kill -9 "-$group"; done
PATH=/usr/bin:/bin
for tries in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  left=
  for folder do
    [ -d "$folder" ] || continue
    while read -r pid; do kill -9 "$pid"; done <<END
$(cat "$folder"/*/cgroup.procs)
END
    rmdir "$folder"/*/ "$folder" || left=yes
  done
  [ "$left" ] || break
  sleep 0.1
done
"""


_DEAF_TO = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)


class Watchdog:
    """Knows the process groups of this app. Thread-safe; one for the whole app (see ``shared``)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._folders: list[Path] = []
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

    def remove_at_the_end(self, folder: Path) -> None:
        """Remove a folder of cgroups when the app is gone; kill what is in it."""
        with self._lock:
            self._folders.append(folder)
            self._tell(f"@ {folder}\n")

    def _tell(self, line: str) -> None:
        if self._process is None:
            self._start()
        elif not self._write(line):
            self._process.wait()
            self._start()

    def _start(self) -> None:
        """Start the watchdog (again) and tell it everything there is to watch."""
        # Blocked from its first moment on: a trap alone would leave one before it is set.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEAF_TO)
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SCRIPT],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                start_new_session=True,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        folders = "".join(f"@ {folder}\n" for folder in self._folders)
        self._write(folders + "".join(f"+ {group}\n" for group in self._groups))

    def _write(self, text: str) -> bool:
        assert self._process is not None and self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()
        except OSError:
            return False
        return True


shared = Watchdog()
