"""Signatures of files and of diffs, in many languages, whatever the text is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.compaction.symbols import MOST, named, symbols, touched

PYTHON = '''import os


@cached
class Cart(Base):
    """A cart: of things."""

    async def total(
        self, tax: dict[str, int] = {"a": 1},  # why: because
    ) -> int:
        def inner(): pass
        return 1


if os.name:
    def load(path):  # reads
        return path
'''


def test_python_by_its_own_parser() -> None:
    found = symbols("shop/cart.py", PYTHON, first=10)
    assert [(one.name, one.line) for one in found] == [("Cart", 14), ("total", 17), ("load", 25)]
    assert found[0].signature == "class Cart(Base)"
    assert found[1].signature.startswith("    async def total( self, tax: dict[str, int]")
    assert found[2].signature == "    def load(path)"


def test_python_that_is_cut_or_broken_by_its_lines() -> None:
    found = symbols("a.py", "    def tail(self):\n  ][\nclass A:\n    async def go(self, x: int) -> None:\n")
    assert [one.name for one in found] == ["tail", "A", "go"]


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.ts", "export async function load(a) {\nconst go = (x) => x\ninterface Cart {\nlet n = 1", "load go Cart"),
        ("a.go", "package a\nfunc (c *Cart) Total(n int) int {\ntype Cart struct {\nvar x = 1", "Total Cart"),
        ("a.rs", "pub(crate) async fn load() {\nimpl Show for Cart {\npub struct Cart;\nlet x;", "load Cart Cart"),
        ("A.java", "public class Cart {\n  private static int total(int a) throws E {\n return sum(a) ;", "Cart total"),
        ("a.c", "struct cart {\nstatic int total(int a)\n  return total(a);\nif (x) {", "cart total"),
        ("a.rb", "class Cart\n  def total?(a)\n  def self.load\n  x = 1", "Cart total? load"),
        ("a.php", "final class Cart {\n  public static function total($a) {", "Cart total"),
        ("a.sh", "build() {\nfunction test-all() {\necho hi", "build test-all"),
        ("a.txt", "def x(): pass", ""),
        ("Makefile", "build: x", ""),
    ],
)  # fmt: skip
def test_other_languages_by_lines(path: str, text: str, names: str) -> None:
    assert [one.name for one in symbols(path, text)] == names.split()


def test_a_diff_says_what_it_touches_and_what_it_removes() -> None:
    diff = (
        "--- a/c.py\n+++ b/c.py\n@@ -1,4 +1,4 @@\n def total(a):\n-    return 1\n+    return 2\n"
        "@@ -9,3 +9,1 @@\n-def gone(x):\n-    pass\n@@ -20,2 +20,2 @@\n-def load(a):\n+def load(a, b=1):\n"
    )
    assert touched("c.py", diff) == {
        "gone": "removed: def gone(x)",
        "total": "def total(a)",
        "load": "def load(a, b=1)",
    }
    assert touched("c.txt", diff) == {} and touched("c.py", "") == {}


def test_a_signature_is_known_again_by_its_name() -> None:
    assert named("c.py", "def load(a, b=1)") == named("c.py", "removed: def load(a)") == "load"
    assert named("c.txt", "whatever") == "whatever"


HOSTILE = ["\0" * 9, "(" * 5000, "def " * 5000, "class " + "x" * 5000, "def é\u2028(x):", "\ud83d def a(b):", "[" * 300]


@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.go", "a.rs", "a.java", "a.cpp", "a.rb", "a.php", "a.sh"])
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text(path: str, text: str) -> None:
    for one in (*symbols(path, text), *symbols(path, text * 3)):
        assert len(one.signature) <= 201
    touched(path, f"--- a\n+++ b\n@@ -1 +1 @@\n+{text}\n-{text}")


def test_a_file_of_many_symbols_says_the_first_of_them() -> None:
    text = "\n".join(f"def f{n}(): pass" for n in range(3 * MOST))
    assert len(symbols("a.py", text)) == MOST


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["a.py", "a.js", "a.c", "a.kt"]), st.text(alphabet="def class(){}:=>\n\t ax1,<*&", max_size=300))
def test_any_text_has_symbols_on_its_own_lines(path: str, text: str) -> None:
    for one in symbols(path, text):
        assert 1 <= one.line <= text.count("\n") + 1 and one.name and "\n" not in one.signature
