"""Inline Markdown (emphasis, code, links) as spans; bounded, and literal wherever it is not Markdown."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rich.style import Style

from tui.transcript.look import BOLD, EMPTY, ITALIC, STRIKE, UNDERLINE, Look
from tui.transcript.wrap import Span

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

INLINE_LIMIT = 4_000
"""Characters of one paragraph or cell searched for inline marks; a longer one is shown as it was written."""

_MARKS = frozenset("*_`[]!~<&\\")
_OPEN = {"strong_open": BOLD, "em_open": ITALIC, "s_open": STRIKE}


@lru_cache(maxsize=1)
def parser() -> MarkdownIt:
    """The one Markdown parser: CommonMark with tables and strikethrough, no HTML. Inline text is parsed on demand."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return made.disable(["inline", "text_join"])


def inline_lines(text: str, look: Look, env: dict[str, Any], base: Style = EMPTY) -> list[list[Span]]:
    """The lines of a paragraph, as its author broke them, each as spans."""
    if len(text) > INLINE_LIMIT or _MARKS.isdisjoint(text):
        return [[(line.strip(" "), base)] for line in text.split("\n")]
    tokens: list[Token] = []
    made = parser()
    made.inline.parse(text, made, env, tokens)
    return _Inline(look, base).lines_of(tokens)


class _Inline:
    """Walks inline tokens with a stack of styles."""

    def __init__(self, look: Look, base: Style) -> None:
        self.look = look
        self.styles = [base]
        self.lines: list[list[Span]] = [[]]
        self.links: list[tuple[str, list[str]]] = []

    def lines_of(self, tokens: list[Token]) -> list[list[Span]]:
        for token in tokens:
            self.take(token)
        return self.lines

    def write(self, text: str, style: Style) -> None:
        if text:
            self.lines[-1].append((text, style))
            for _, shown in self.links:
                shown.append(text)

    def take(self, token: Token) -> None:
        kind = token.type
        if kind == "hardbreak":
            self.lines.append([])
        elif kind == "softbreak":
            self.write(" ", self.styles[-1])
        elif kind == "code_inline":
            self.code(token.content)
        elif kind in _OPEN:
            self.styles.append(self.styles[-1] + _OPEN[kind])
        elif kind == "link_open":
            self.links.append((str(token.attrs.get("href", "")), []))
            self.styles.append(self.styles[-1] + UNDERLINE)
        elif kind == "link_close":
            self.styles.pop()
            self.close_link()
        elif kind.endswith("_close"):
            self.styles.pop()
        elif kind == "image":
            self.write(f"[image: {token.content}]", self.styles[-1] + ITALIC)
            self.write(f" {token.attrs.get('src', '')}", self.look.roles.muted)
        else:
            self.write(token.content, self.styles[-1])

    def code(self, text: str) -> None:
        style = self.styles[-1] + self.look.roles.accent
        # Without colour the backticks are the only sign that this is code.
        self.write(text if self.look.colour else f"`{text}`", style)

    def close_link(self) -> None:
        target, shown = self.links.pop()
        if target and target.removeprefix("mailto:") != "".join(shown):
            self.write(f" ({target})", self.look.roles.muted)
