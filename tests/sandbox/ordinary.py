"""Running tests as somebody without any rights, also when the tests themselves run as root.

The interpreter may lie in root's own folder. In a mount namespace made for the run, that folder shows nothing but the
interpreter, so that an ordinary user can start it; the host sees none of this.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sandbox.test_processes import ROOT

NOBODY = 65534
SECONDS = 120


def unavailable() -> str:
    """Why it cannot be done here; empty when it can."""
    if os.geteuid() != 0:
        return ""
    missing = [name for name in ("unshare", "setpriv", "mount") if shutil.which(name) is None]
    if missing:
        return f"needs {', '.join(missing)}"
    tried = subprocess.run(_becoming(["/bin/true"]), capture_output=True, timeout=20)
    return tried.stderr.decode(errors="replace").strip() if tried.returncode else ""


def run_tests(*names: str) -> subprocess.CompletedProcess[bytes]:
    """Run test files (below tests/) in a pytest of their own, as an ordinary user."""
    with _home() as home:
        words = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        words += [f"--basetemp={home}/tests", *(f"tests/{name}" for name in names)]
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8"}
        command = words if os.geteuid() != 0 else _becoming(words)
        return subprocess.run(
            command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=SECONDS,
        )  # fmt: skip


@contextmanager
def _home() -> Iterator[Path]:
    home = Path(tempfile.mkdtemp(prefix="agent-tui-ordinary-"))
    try:
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _becoming(words: list[str]) -> list[str]:
    """``words`` as an ordinary user without groups or capabilities, with the interpreter in reach."""
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--", *words]
    hidden = _hidden_parent(Path(sys.executable).resolve())
    if hidden is None:
        return drop
    top, shown = hidden
    script = " && ".join(
        (
            "mount --make-rprivate /",
            "mount -t tmpfs -o mode=755 none /mnt",
            f"mkdir -p {shlex.quote(f'/mnt/top/{shown.relative_to(top)}')}",
            f"mount --bind {shlex.quote(str(shown))} {shlex.quote(f'/mnt/top/{shown.relative_to(top)}')}",
            f"mount --rbind /mnt/top {shlex.quote(str(top))}",
            'exec "$@"',
        )
    )
    return ["unshare", "-m", "sh", "-c", script, "sh", *drop]


def _hidden_parent(program: Path) -> tuple[Path, Path] | None:
    """The first folder above ``program`` that only root may enter, and the one below it that has to show."""
    parents = list(reversed(program.parents))
    for above, below in zip(parents, parents[1:], strict=False):
        if not above.stat().st_mode & 0o001:
            return above, below
    return None
