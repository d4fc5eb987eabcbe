"""The person's own clipboard, by the programs that own it here: asked for by them, so outside every sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

SECONDS = 3.0
# Who takes text on standard input, and what has to be set for it to reach a clipboard at all.
_PROGRAMS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-in")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    ("TMUX", ("tmux", "load-buffer", "-w", "-")),
    ("", ("pbcopy",)),
)


def copy(text: str, env: Mapping[str, str] | None = None) -> str:
    """The name of the program that took ``text``, '' when there is none or none took it: only then nothing was
    copied."""
    surroundings = os.environ if env is None else env
    search = surroundings.get("PATH")
    usable = (
        argv
        for needs, argv in _PROGRAMS
        if (not needs or surroundings.get(needs)) and shutil.which(argv[0], path=search)
    )
    return next((argv[0] for argv in usable if _took(argv, text, surroundings)), "")


def _took(argv: tuple[str, ...], text: str, env: Mapping[str, str]) -> bool:
    try:
        # Their output is not read: those that stay behind to serve the text would hold a pipe open for ever.
        done = subprocess.run(
            argv,
            input=text.encode("utf-8", "replace"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
