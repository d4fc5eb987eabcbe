"""Folders with tools that lie outside /usr: this Python, and the version managers people put on PATH.

They are shown read-only. A folder that also holds secrets is never shown whole: at most its ``bin``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

SYSTEM = tuple(Path(p) for p in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"))

# Variables by which version managers say where they live.
_MANAGERS = ("PYENV_ROOT", "RUSTUP_HOME", "NVM_DIR", "VOLTA_HOME", "ASDF_DIR", "GOROOT", "JAVA_HOME", "CONDA_PREFIX")
# Where they live when nobody said so; below the home folder.
_USUAL = (".rustup", ".cargo/registry", ".local/share/uv/tools", ".local/share/uv/python", ".local/share/pipx/venvs")
# Never shown whole, whatever they hold today.
_PRIVATE = (".local", ".cargo", ".config", ".cache", ".npm", ".m2", ".docker")

_SECRET_NAMES = frozenset(
    ".ssh .aws .azure .gnupg .kube .docker .netrc .npmrc .pypirc .git-credentials .gem .config keyrings gcloud".split()
)


def roots(workspace: Path) -> tuple[Path, ...]:
    """Read-only folders to show, parents first, none inside another, none that would show the home folder."""
    found = {path for path in _candidates() if _fit(path, workspace)}
    ordered = sorted(found, key=lambda p: (len(p.parts), str(p)))
    return tuple(p for p in ordered if not any(p != q and p.is_relative_to(q) for q in ordered))


def interpreter(workspace: Path) -> tuple[Path, ...]:
    """Like `roots`, but for this Python's own folders alone, without what is installed beside it."""
    own = {Path(sys.base_prefix), Path(sys.base_exec_prefix), Path(sys.executable).resolve().parent.parent}
    return tuple(sorted(path for path in own if _fit(path, workspace)))


def variables(shown: tuple[Path, ...]) -> dict[str, str]:
    """The variables by which version managers find themselves, for those whose folder is among ``shown``."""
    named = {name: Path(os.environ[name]) for name in _MANAGERS if os.environ.get(name)}
    named.setdefault("RUSTUP_HOME", Path.home() / ".rustup")
    return {name: str(path) for name, path in named.items() if any(path.is_relative_to(root) for root in shown)}


def is_masked(path: Path, workspace: Path) -> bool:
    """Whether ``path`` lies in a hidden entry of a home folder that is (in) the workspace: those do not show."""
    home = Path.home()
    inside = home.is_relative_to(workspace) and path != home and path.is_relative_to(home)
    return inside and path.relative_to(home).parts[0].startswith(".")


def _candidates() -> Iterator[Path]:
    home = Path.home()
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        yield Path(prefix)
    yield from (Path(os.environ[name]) for name in _MANAGERS if os.environ.get(name))
    yield from (home / name for name in _USUAL)
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        if entry:
            yield _tool_root(Path(entry), home)


def _tool_root(entry: Path, home: Path) -> Path:
    """The folder to show for a PATH entry: the whole installation if it is one, else only the entry itself."""
    prefix = entry.parent
    private = prefix == home or prefix in {home / name for name in _PRIVATE}
    looks_installed = entry.name in ("bin", "shims", "sbin") and any(
        (prefix / name).is_dir() for name in ("lib", "libexec", "share", "include", "versions")
    )
    return prefix if looks_installed and not private and not _holds_secrets(prefix) else entry


def _holds_secrets(folder: Path) -> bool:
    try:
        names = [entry.name.lower() for entry in os.scandir(folder)]
    except OSError:
        return True
    return any(n in _SECRET_NAMES or n.startswith(("credential", "id_rsa", "id_ed25519")) for n in names)


def _fit(path: Path, workspace: Path) -> bool:
    """Whether ``path`` may be shown: a real folder, not the system's (shown anyway), hiding and exposing nothing."""
    if not path.is_absolute() or ".." in path.parts or not os.access(path, os.R_OK | os.X_OK) or not path.is_dir():
        return False
    visible = path.is_relative_to(workspace) and not is_masked(path, workspace)
    if visible or any(path.is_relative_to(top) for top in SYSTEM):
        return False
    too_wide = (Path.home(), workspace, Path("/usr"), Path("/etc"), Path("/proc"), Path("/tmp"))
    return not any(wide.is_relative_to(path) for wide in too_wide)
