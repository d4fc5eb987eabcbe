"""What git needs from outside the workspace: the repository behind a worktree, and who commits."""

from __future__ import annotations

import re
from pathlib import Path

_MAX = 64 * 1024


def repository_of_worktree(workspace: Path) -> Path | None:
    """The repository a linked worktree belongs to, so that it can be shown read-only; None when there is none.

    ``.git`` is a file anybody may have written, so it is believed only when the repository names this worktree back.
    """
    pointer = workspace / ".git"
    if pointer.is_symlink() or not pointer.is_file():
        return None
    found = re.fullmatch(r"gitdir: (.+)\n?", _text(pointer))
    if found is None:
        return None
    own = (workspace / found[1]).resolve()
    common = (own / (_text(own / "commondir").strip() or ".")).resolve()
    names_back = _text(own / "gitdir").strip()
    genuine = (
        own.parent == common / "worktrees"
        and (workspace / names_back).resolve() == pointer
        and (common / "HEAD").is_file()
        and (common / "objects").is_dir()
    )
    return common if genuine else None


def identity() -> bytes:
    """A git configuration with the user's name and address and nothing else, as they set them for all repositories."""
    home = Path.home()
    text = _text(home / ".config" / "git" / "config") + "\n" + _text(home / ".gitconfig")
    known: dict[str, str] = {}
    section = ""
    for line in map(str.strip, text.splitlines()):
        if head := re.fullmatch(r"\[\s*([\w.-]+)\s*\]", line):
            section = head[1].lower()
        elif section == "user" and (entry := re.fullmatch(r'(name|email)\s*=\s*"?([^"\\#;]+?)"?', line, re.IGNORECASE)):
            known[entry[1].lower()] = entry[2]
    return (
        "".join(["[user]\n", *(f'\t{name} = "{value}"\n' for name, value in known.items())]).encode() if known else b""
    )


def _text(path: Path) -> str:
    """The beginning of a regular file, "" for anything else."""
    try:
        if not path.is_file():
            return ""
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MAX)
    except OSError:
        return ""
