"""The person's own editor on a file of theirs: asked for by them, so outside every sandbox."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

FALLBACKS = ("nano", "vim", "vi")


class NoEditorError(RuntimeError):
    """No editor could be started; the message says what to set."""


def open_editor(path: Path, env: Mapping[str, str] | None = None) -> int:
    """Open ``path`` in $VISUAL, $EDITOR or an editor that is installed, wait, and return its exit code.

    Raises NoEditorError when there is none or it cannot be started.
    """
    argv = editor_command(os.environ if env is None else env)
    try:
        return subprocess.run([*argv, str(path)], check=False).returncode
    except OSError as error:
        raise NoEditorError(f"{argv[0]!r} cannot be started: {error.strerror}. Set EDITOR to your editor.") from error


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
