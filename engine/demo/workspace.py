"""Makes the folder the demo works in: a small repository with one test that really fails."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass
from pathlib import Path

MODEL = "script/demo"

_TEMPLATE = Path(__file__).with_name("repository.toml")
_SCRIPT = Path(__file__).with_name("script.toml")


@dataclass(frozen=True, slots=True)
class DemoWorkspace:
    """A fresh copy. ``task`` is what the person is supposed to type, ``model`` the spec that plays ``script``."""

    folder: Path
    script: Path
    task: str
    model: str = MODEL


def make_demo(parent: Path) -> DemoWorkspace:
    """Write the repository into a new folder below ``parent``; earlier ones are left alone. Raises OSError."""
    template = tomllib.loads(_TEMPLATE.read_text(encoding="utf-8"))
    folder = _new_folder(parent, template["folder"])
    for name, text in template["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return DemoWorkspace(folder, _SCRIPT, template["task"])


def _new_folder(parent: Path, name: str) -> Path:
    """``name``, or ``name-2`` and so on when it is taken."""
    parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise AssertionError("counting does not end")
