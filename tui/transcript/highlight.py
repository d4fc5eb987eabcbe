"""Code as coloured lines, within bounds: long or strange code is plain rather than late."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rich.style import Style

from tui.transcript.look import CodeColours

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Span = tuple[str, Style]

CODE_LIMIT = 60_000
"""Characters of one piece of code that are coloured at most."""
LINE_LIMIT = 1_000
"""A longer line makes its whole piece plain: lexers take such lines badly."""


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """The lexer of a language's name or of a file's name, None when there is none worth using."""
    # Pygments is imported with the first code shown, not at start.
    from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
    from pygments.util import ClassNotFound

    word = language.strip().split()[0].strip("{}.,") if language.strip() else ""
    if not word or len(word) > 200 or word.lower() in ("text", "txt", "plain", "output", "none"):
        return None
    try:
        return get_lexer_by_name(word.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        found = find_lexer_class_for_filename(word) if "." in word or "/" in word else None
        return found(stripnl=False, ensurenl=False) if found else None


def highlight(lines: list[str], language: str, colours: CodeColours) -> list[list[Span]]:
    """Coloured spans of each line of ``lines``. ``language`` is a name such as ``python`` or a file's name."""
    return _highlight(tuple(lines), language, colours)


# Code that grows is asked for twice a frame: to see whether its beginning is finished, and to draw it.
@lru_cache(maxsize=2)
def _highlight(lines: tuple[str, ...], language: str, colours: CodeColours) -> list[list[Span]]:
    lexer = lexer_for(language)
    if lexer is None or sum(map(len, lines)) > CODE_LIMIT or any(len(line) > LINE_LIMIT for line in lines):
        return [[(line, colours.plain)] for line in lines]
    result: list[list[Span]] = [[]]
    styles: dict[object, Style] = {}
    for token, text in lexer.get_tokens("\n".join(lines)):
        style = styles.get(token)
        if style is None:
            style = styles[token] = style_of(str(token), colours)
        first, *rest = text.split("\n")
        if first:
            result[-1].append((first, style))
        for piece in rest:
            result.append([(piece, style)] if piece else [])
    # A lexer may add or drop a newline at the end; lines stay one to one with the source.
    result.extend([] for _ in range(len(lines) - len(result)))
    return result[: len(lines)]


def style_of(token: str, colours: CodeColours) -> Style:
    """The style of a Pygments token, by its name such as ``Token.Literal.String.Doc``."""
    name = token[6:]
    if name.startswith(("Comment", "Generic.Output")):
        return colours.comment
    if name.startswith("Literal.String"):
        return colours.string
    if name.startswith("Literal.Number") or name == "Keyword.Constant":
        return colours.number
    if name.startswith(("Keyword", "Operator.Word", "Name.Tag")):
        return colours.keyword
    if name.startswith(("Name.Function", "Name.Class", "Name.Decorator", "Name.Builtin", "Name.Attribute")):
        return colours.name
    return colours.plain
