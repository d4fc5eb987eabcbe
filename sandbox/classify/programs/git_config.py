"""Reads a repository's own settings: do they name programs that a reading verb of git would start?"""

from __future__ import annotations

import re
from pathlib import Path

_PROGRAM_KEYS = re.compile(
    r"(?im)(?<![\w-])(?:fsmonitor|external|textconv|command|clean|smudge|process|program|pager|sshcommand|uploadpack|hookspath"
    r"|gitproxy|askpass|alternaterefscommand|packobjectshook)[ \t]*(?:[=#;]|$)|ext::|\[[ \t]*include|\\$"
)
# What git itself or Git LFS writes: not programs of a stranger's choice.
_USUAL = re.compile(
    r"(?im)^[ \t]*fsmonitor[ \t]*=[ \t]*(?:true|false)[ \t]*$"
    r"|^[ \t]*(?:clean|smudge|process)[ \t]*=[ \t]*git-lfs (?:clean -- %f|smudge -- %f|filter-process)[ \t]*$"
)
_LARGEST = 256 * 1024


def runs_programs(folder: str) -> bool:
    """Whether the repository around ``folder`` has settings that start programs. True when they cannot be read."""
    git_dir = _git_dir(Path(folder))
    if git_dir is None:
        return False
    try:
        return any(_names_programs(file) for file in _files(git_dir))
    except (OSError, ValueError):
        return True


def _git_dir(folder: Path) -> Path | None:
    """The repository folder git would use: the nearest ``.git`` upwards, or a folder that is a bare repository."""
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists():
            return parent / ".git"
        if (parent / "HEAD").exists() and (parent / "objects").is_dir():
            return parent
    return None


def _files(git_dir: Path) -> list[Path]:
    """The settings files of the repository, also where ``.git`` is a pointer, as in a linked work tree."""
    if git_dir.is_file():
        git_dir = git_dir.parent / _read(git_dir).removeprefix("gitdir:").strip()
    folders = [git_dir]
    shared = git_dir / "commondir"
    if shared.is_file():
        folders.append(git_dir / _read(shared).strip())
    files = [folder / name for folder in folders for name in ("config", "config.worktree")]
    return [file for file in files if file.exists()]


def _names_programs(file: Path) -> bool:
    # Refreshing the index, as `git status` does, runs this hook.
    if (file.parent / "hooks" / "post-index-change").exists():
        return True
    return _PROGRAM_KEYS.search(_USUAL.sub("", _read(file))) is not None


def _read(file: Path) -> str:
    if file.stat().st_size > _LARGEST:
        raise ValueError("too large to be settings")
    return file.read_text(encoding="utf-8", errors="replace")
