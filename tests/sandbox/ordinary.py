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
    """``words`` as an ordinary user without groups or capabilities, with interpreter and tests in reach."""
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--", *words]
    hidden = _hidden(Path(sys.executable), Path(sys.executable).resolve(), Path(sys.prefix) / "lib", *ROOT.iterdir())
    if not hidden:
        return drop
    steps = ["mount --make-rprivate /", "mount -t tmpfs -o mode=755 none /mnt"]
    for number, (top, shown) in enumerate(sorted(hidden.items())):
        stage = f"/mnt/{number}"
        steps.append(f"mkdir {stage} && chmod 755 {stage}")
        for path in sorted(shown):
            place = shlex.quote(f"{stage}/{path.relative_to(top)}")
            make = f"mkdir -p {place}" if path.is_dir() else f"touch {place}"
            steps.append(f"{make} && mount --rbind {shlex.quote(str(path))} {place}")
        steps.append(f"mount --rbind {stage} {shlex.quote(str(top))}")
    return ["unshare", "-m", "sh", "-c", " && ".join([*steps, 'exec "$@"']), "sh", *drop]


def _hidden(*needed: Path) -> dict[Path, set[Path]]:
    """The folders above ``needed`` that only root may enter, outermost first, each with what it has to show."""
    found: dict[Path, set[Path]] = {}
    for path in needed:
        down = [*reversed(path.parents), path]
        for above, below in zip(down, down[1:], strict=False):
            if not above.stat().st_mode & 0o001:
                found.setdefault(above, set()).add(below)
    return found
