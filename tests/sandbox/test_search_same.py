"""Searching gives the same answers with ripgrep and without it."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.helper.places import Refused, Space
from sandbox.helper.search import search

LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [b"", b"foo", b"Foo bar", b"a.b", b"x\r", b"tab\there", "naïve café".encode(), b"\xff\xfe bad", b"a\x1cb"]
        ),
        st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")),
        st.text("abcF .*+-_\t\r\x0b\x1d é", max_size=10).map(str.encode),
    ),
    max_size=6,
)
PLAIN = (
    "a",
    "b",
    "foo",
    "F",
    ".",
    "^",
    "$",
    "[a-c]",
    "[^a]",
    "|",
    "é",
    "(?:a|b)",
    "(a)",
    "a*",
    "o+",
    "x?",
    "b{2}",
    "-",
    " ",
)
ESCAPED = (
    r"\.",
    r"\w",
    r"\W",
    r"\d",
    r"\s",
    r"\S",
    r"\b",
    r"[\w.]",
    r"\t",
    r"\x1c",
    r"\[",
    "[[]",
    r"\Z",
    "(?=a)",
    r"\<",
)
PIECES = st.sampled_from((*PLAIN, *ESCAPED))
PATTERNS = st.one_of(st.lists(PIECES, min_size=1, max_size=4).map("".join), st.text("abF.* é(", max_size=5))


def rows(space: Space, **header: Any) -> Any:
    """What a search answers: rows, or the refusal's words."""
    known = {"path": ".", "glob": None, "literal": False, "ignore_case": False, "limit": 1000}
    try:
        return search(space, known | header, b"")[0]
    except Refused as refused:
        return str(refused)


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(LINES, min_size=1, max_size=3), PATTERNS, st.booleans(), st.booleans())
def test_both_engines_agree(files: list[list[bytes]], pattern: str, literal: bool, ignore_case: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, lines in enumerate(files):
            (Path(folder) / f"f{number}.txt").write_bytes(b"\n".join(lines))
        space = Space(str(Path(folder).resolve()), (), True)
        given = {"pattern": pattern, "literal": literal, "ignore_case": ignore_case}
        assert rows(space, **given) == rows(space, engine="python", **given)


@pytest.fixture
def space(tmp_path: Path) -> Space:
    for path, text in {
        "a.py": "import os\nprint(os)\n",
        "b/c.py": "import sys\r\nx = 1",
        "b.txt": "import nothing\n",
        "b/deep/d.txt": "IMPORT\n",
        ".hidden": "import\n",
        "node_modules/m.js": "import\n",
        ".git/config": "import\n",
        "binary": "import\0\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, newline="")
    (tmp_path / ".gitignore").write_text("b.txt\n")
    (tmp_path / "link.py").symlink_to("a.py")
    return Space(str(tmp_path.resolve()), (), True)


ENGINES = pytest.mark.parametrize("engine", ["auto", "python"])


@ENGINES
def test_order_lines_and_what_is_left_out(space: Space, engine: str) -> None:
    found = rows(space, pattern="^import", engine=engine)
    assert found["matches"] == [["a.py", 1, "import os"], ["b/c.py", 1, "import sys"], ["b.txt", 1, "import nothing"]]
    assert not found["truncated"]
    assert rows(space, pattern="sys$", engine=engine)["matches"] == [["b/c.py", 1, "import sys"]]
    assert rows(space, pattern="x = 1$", engine=engine)["matches"] == [["b/c.py", 2, "x = 1"]]


@ENGINES
def test_options(space: Space, engine: str) -> None:
    assert rows(space, pattern="import", ignore_case=True, path="b", engine=engine)["matches"] == [
        ["b/c.py", 1, "import sys"],
        ["b/deep/d.txt", 1, "IMPORT"],
    ]
    assert rows(space, pattern="(os)", literal=True, engine=engine)["matches"] == [["a.py", 2, "print(os)"]]
    cut = rows(space, pattern="import", limit=1, engine=engine)
    assert len(cut["matches"]) == 1 and cut["truncated"]
    assert rows(space, pattern="print", path="a.py", engine=engine)["matches"] == [["a.py", 2, "print(os)"]]
    assert rows(space, pattern="zzz", engine=engine)["matches"] == []


@ENGINES
@pytest.mark.parametrize(
    ("glob", "paths"),
    [
        ("*.py", {"a.py", "b/c.py"}),
        ("b/*", {"b/c.py"}),
        ("b/**", {"b/c.py", "b/deep/d.txt"}),
        ("**/*.txt", {"b.txt", "b/deep/d.txt"}),
        ("[ab].py", {"a.py"}),
        ("nosuch", set()),
    ],
)
def test_globs(space: Space, engine: str, glob: str, paths: set[str]) -> None:
    found = rows(space, pattern="import", ignore_case=True, glob=glob, engine=engine)["matches"]
    assert {row[0] for row in found} == paths


@ENGINES
def test_a_wrong_pattern_and_a_missing_folder_are_said_in_words(space: Space, engine: str) -> None:
    assert "pattern cannot be read" in rows(space, pattern="(", engine=engine)
    assert "does not exist" in rows(space, pattern="x", path="nosuch", engine=engine)


def test_long_lines_are_cut(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x" * 100_000)
    (row,) = rows(Space(str(tmp_path), (), True), pattern="x")["matches"]
    assert re.fullmatch("x{1000}", row[2])
