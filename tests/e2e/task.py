"""A task of twelve steps with parallel calls, a failing test, long output and a missing file, for any wire format."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fakes import Call, Turn

TASK = "Make the test pass and say what was wrong."
ANSWER = "The sum was off by one. It is mended and the test passes."

_SUM = "def total(numbers):\n    return sum(numbers) + 1\n"
_TEST = "import unittest\nfrom shop import total\n\n\nclass Totals(unittest.TestCase):\n"
_TEST += "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"


def make_repository(folder: Path) -> Path:
    """A small project whose one test really fails."""
    folder.mkdir(parents=True)
    (folder / "shop.py").write_text(_SUM)
    (folder / "test_shop.py").write_text(_TEST)
    (folder / "notes.txt").write_text("\n".join(f"line {n}" for n in range(1, 4001)))
    return folder


def _call(name: str, **arguments: Any) -> Call:
    return Call(name, arguments)


def _todo(*done: bool) -> Mapping[str, Any]:
    names = ("reproduce", "mend", "check")
    return {"items": [{"text": n, "status": "done" if d else "pending"} for n, d in zip(names, done, strict=True)]}


RUN_TEST = _call("shell_run", command="python3 -m unittest -q test_shop")

STEPS: tuple[Turn, ...] = (
    Turn(text="I look around.", calls=(_call("fs_list"),)),
    Turn(
        thinking="Three files at once.",
        calls=(
            _call("fs_read", path="shop.py"),
            _call("fs_read", path="test_shop.py"),
            _call("fs_read", path="missing.py"),
        ),
    ),
    Turn(calls=(_call("fs_search", pattern="total"),)),
    Turn(text="The test first.", calls=(RUN_TEST,)),
    Turn(calls=(Call("todo_write", _todo(True, False, False)),)),
    Turn(calls=(_call("fs_edit", path="shop.py", old="sum(numbers) + 1", new="sum(numbers)"),)),
    Turn(calls=(_call("shell_run", command=shlex.join(["seq", "1", "5000"])),)),
    Turn(thinking="Now again.", calls=(RUN_TEST,)),
    Turn(calls=(_call("fs_write", path="CHANGES.md", content="- total() no longer adds one\n"),)),
    Turn(calls=(_call("fs_read", path="notes.txt", offset=3990), _call("fs_read", path="CHANGES.md"))),
    Turn(calls=(Call("todo_write", _todo(True, True, True)),)),
    Turn(text=ANSWER),
)
