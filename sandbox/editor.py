"""The person's own editor on a file of theirs: asked for by them, so outside every sandbox."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

FALLBACKS = ("nano", "vim", "vi")
# How the editors people use are told a line.
PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "view", "nano", "emacs", "emacsclient", "micro", "kak", "joe", "mcedit", "ed"}
)
GOTO = frozenset({"code", "codium", "cursor", "windsurf"})
COLON = frozenset({"hx", "helix", "zed", "subl"})


class NoEditorError(RuntimeError):
    """No editor could be started; the message says what to set."""


def open_editor(path: Path, env: Mapping[str, str] | None = None, line: int = 0) -> int:
    """Open ``path`` in $VISUAL, $EDITOR or an editor that is installed, at ``line`` where it knows how, wait, and
    return its exit code.

    Raises NoEditorError when there is none or it cannot be started.
    """
    argv = editor_command(os.environ if env is None else env)
    try:
        return subprocess.run([*argv, *_at(argv[0], path, line)], check=False).returncode
    except OSError as error:
        raise NoEditorError(f"{argv[0]!r} cannot be started: {error.strerror}. Set EDITOR to your editor.") from error


def _at(program: str, path: Path, line: int) -> list[str]:
    name = Path(program).name
    if line and name in PLUS_LINE:
        return [f"+{line}", str(path)]
    if line and name in GOTO:
        return ["--goto", f"{path}:{line}"]
    return [f"{path}:{line}"] if line and name in COLON else [str(path)]


def editor_command(env: Mapping[str, str]) -> list[str]:
    """The editor as argv. Raises NoEditorError."""
    for name in ("VISUAL", "EDITOR"):
        try:
            argv = shlex.split(env.get(name, ""))
        except ValueError as error:
            raise NoEditorError(f"{name} cannot be read as a command: {error}.") from error
        if argv:
            return argv
    found = next((path for name in FALLBACKS if (path := shutil.which(name))), None)
    if found is None:
        raise NoEditorError("No editor is known. Set EDITOR to yours.")
    return [found]
