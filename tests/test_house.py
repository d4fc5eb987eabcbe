"""The rules of the house, checked by the tools that know them: lint, format, types, doors."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("engine", "sandbox", "skills", "themes", "tui")
MOST_LINES = 400
# A table of all there is, with one entry after another, is read by looking things up.
TABLES = {"engine/events.py": 600, "engine/queries.py": 500}


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["lint-imports"],
    ],
    ids=lambda command: " ".join(command),
)
def test_tool_is_content(command: list[str]) -> None:
    script = Path(sys.executable).parent / command[0]
    done = subprocess.run([script, *command[1:]], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_are_small_enough_to_hold_in_ones_head() -> None:
    sizes = {path: path.read_text().count("\n") for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    limit = {ROOT / name: size for name, size in TABLES.items()}
    assert not {str(path): size for path, size in sizes.items() if size > limit.get(path, MOST_LINES)}


def test_no_error_is_swallowed_without_a_word() -> None:
    found = []
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.ExceptHandler) and _catches_all(node) and isinstance(node.body[0], ast.Pass):
                    found.append(f"{path}:{node.lineno}")
    assert not found


def _catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or getattr(handler.type, "id", "") in ("Exception", "BaseException")


def test_importing_the_command_does_not_load_what_the_first_frame_does_not_need() -> None:
    heavy = ["anthropic", "openai", "mcp", "sqlite3", "sqlite_utils", "tree_sitter", "bpe_openai", "httpx"]
    code = f"import sys, tui.main, tui.app; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
