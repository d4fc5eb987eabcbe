"""Symbols and their signatures: of a text, and of what a diff touches. By the language's own parser where that is
cheap and the text is whole, else by lines that look like signatures."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

MOST = 200
_REMOVED = "removed: "
_LENGTH = 200
_ANNOTATIONS = r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|"
_ANNOTATIONS += r"open|override|sealed|data|inline|unsafe|const|extern|declare|virtual|partial|suspend)\s+)*"
_PATTERNS = {
    "py": r"^\s*(?:async\s+def|def|class)\s+(\w+)",
    "js": rf"^\s*{_ANNOTATIONS}(?:function\*?|class|interface|type|enum|namespace)\s+(\w+)"
    rf"|^{_ANNOTATIONS}(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:\(|\w+\s*=>|function)",
    "go": r"^(?:func\s+(?:\([^)]*\)\s*)?|type\s+)(\w+)",
    "rs": rf"^\s*{_ANNOTATIONS}(?:fn|struct|enum|trait|mod|type|union)\s+(\w+)|^\s*impl\b[^{{]*?(\w+)\s*\{{",
    "jvm": rf"^\s*{_ANNOTATIONS}(?:class|interface|enum|record|object|struct|fun|func|protocol)\s+(\w+)"
    rf"|^\s*(?!return|new|throw|else){_ANNOTATIONS}[\w<>\[\],.?]+\s+(\w+)\s*\([^;]*\)\s*(?:throws[\w\s,.]+)?\{{",
    "c": r"^(?:struct|enum|union|class|namespace)\s+(\w+)"
    r"|^(?!return|else|if|for|while|switch)[A-Za-z_][\w\s*&:<>,]*?[\s*&]([A-Za-z_~][\w:~]*)\s*\([^;]*$",
    "rb": r"^\s*(?:def\s+(?:self\.)?|class\s+|module\s+)([\w?!]+)",
    "php": rf"^\s*{_ANNOTATIONS}(?:function|class|interface|trait)\s+(\w+)",
    "sh": r"^(?:function\s+)?([\w-]+)\s*\(\)\s*\{",
}
_BY_SUFFIX = {
    **dict.fromkeys((".py", ".pyi"), "py"),
    **dict.fromkeys((".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs"), "js"),
    **dict.fromkeys((".java", ".kt", ".cs", ".scala", ".swift"), "jvm"),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp", ".cxx"), "c"),
    **dict.fromkeys((".sh", ".bash"), "sh"),
    ".go": "go",
    ".rs": "rs",
    ".rb": "rb",
    ".php": "php",
}
_COMPILED = {language: re.compile(pattern) for language, pattern in _PATTERNS.items()}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function, class or type: its name, where it begins (lines count from 1), and its signature as one line."""

    name: str
    line: int
    signature: str


def symbols(path: str, text: str, first: int = 1) -> tuple[Symbol, ...]:
    """The symbols of ``text``, a file's from line ``first`` on, in order, at most `MOST`. Empty when the language of
    ``path`` is not known."""
    language = _language(path)
    if language is None:
        return ()
    if language == "py" and (tree := _parsed(text)) is not None:
        return tuple(_of_tree(tree, text.split("\n"), first))[:MOST]
    return tuple(_of_lines(language, enumerate(text.split("\n"), first)))[:MOST]


def touched(path: str, diff: str) -> dict[str, str]:
    """What a unified diff touches in ``path``: the name of each symbol to its signature as it is now, or to
    ``removed: `` with the one it had. A change within a body counts for the symbol above it, if the diff shows it."""
    language = _language(path)
    if language is None:
        return {}
    now: dict[str, str] = {}
    gone: dict[str, str] = {}
    above: Symbol | None = None
    for line in diff.split("\n")[2:]:
        if line.startswith("@@"):
            above = None
            continue
        found = next(_of_lines(language, ((0, line[1:]),)), None)
        if line.startswith("-") and found is not None:
            gone[found.name] = found.signature
        elif found is not None:
            above = found
        if line[:1] in ("+", "-") and above is not None:
            now[above.name] = above.signature
    return {**{name: f"{_REMOVED}{was}" for name, was in gone.items() if name not in now}, **now}


def named(path: str, signature: str) -> str:
    """The name of the symbol in ``path`` whose signature is ``signature``; the signature itself when it says none."""
    language = _language(path)
    found = next(_of_lines(language, ((0, signature.removeprefix(_REMOVED)),)), None) if language else None
    return found.name if found else signature


def _language(path: str) -> str | None:
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower())


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_tree(tree: ast.Module, lines: list[str], first: int) -> Iterator[Symbol]:
    """Classes, their methods, and functions; not what stands within functions."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield Symbol(node.name, node.lineno + first - 1, _head(node, lines))
        if isinstance(node, ast.ClassDef | ast.If | ast.Try):
            waiting[:0] = node.body


def _head(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """The signature as it is written, on one line."""
    end = max(node.lineno, node.body[0].lineno - 1)
    head = " ".join(line.strip() for line in lines[node.lineno - 1 : end])
    signature = re.match(r"[^#]*?:(?=\s*(?:#|\"|'|$))", head)
    return _short(" " * node.col_offset + (signature[0] if signature else head).rstrip(" :"))


def _of_lines(language: str, lines: Iterable[tuple[int, str]]) -> Iterator[Symbol]:
    for number, line in lines:
        if len(line) < 1000 and (found := _COMPILED[language].match(line)):
            name = next(group for group in found.groups() if group)
            yield Symbol(name, number, _short(line.rstrip().rstrip("{:").rstrip()))


def _short(signature: str) -> str:
    return signature if len(signature) <= _LENGTH else signature[:_LENGTH] + "…"
