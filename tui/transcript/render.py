"""A block as strips at a width. Pure; bounded: however large a block is, only what is shown is laid out."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.format import clock, plural
from tui.transcript.kinds import Block, Note, Question, Said, Thought, Tool, Whole
from tui.transcript.look import BOLD, EMPTY, ITALIC, Look
from tui.transcript.markdown import MarkdownLines
from tui.transcript.neutral import first_lines, plain_lines
from tui.transcript.note_lines import note_strips
from tui.transcript.rows import MARGIN, barred, barred_lines, edge_to_edge, more_line, reading_width
from tui.transcript.tool_lines import PAGE, tool_strips
from tui.transcript.wrap import Span, strip_of

SAID_LINES = 40
"""Lines of a person's message shown before it is unfolded: a paste does not bury the conversation."""
MARKDOWN_LIMIT = 400_000
"""Characters of one answer that are rendered; the rest is counted."""


@dataclass(slots=True)
class Rendered:
    """A block's lines. hidden: what Enter would show more of (0: nothing). markdown: kept while an answer grows."""

    strips: list[Strip]
    hidden: int = 0
    markdown: MarkdownLines | None = None


def render(
    block: Block, width: int, look: Look, pages: int = 0, before: Rendered | None = None, full: Whole | None = None
) -> Rendered:
    """The lines of a block.

    pages: how much of it is unfolded, 0 folded. before: how it was rendered at this width and look when it was shorter.
    full: the whole output of a tool call, or its picture, when it has been fetched.
    """
    if isinstance(block, Said):
        return _agent(block, width, look, before) if block.who == "agent" else _person(block, width, look, pages)
    if isinstance(block, Thought):
        return _thought(block, width, look, pages)
    if isinstance(block, Tool):
        strips, hidden = tool_strips(block, width, look, pages, full)
        return Rendered(strips, hidden)
    if isinstance(block, Note):
        return Rendered(*note_strips(block, width, look, pages))
    if isinstance(block, Question):
        return Rendered(_question(block, width, look))
    return Rendered([])


def left_behind(drawn: Rendered, look: Look) -> Rendered:
    """A block a person went back behind: still to be read, quietly, with a mark in the margin."""
    muted = look.roles.muted

    def quiet(strip: Strip) -> Strip:
        words = Strip([Segment(segment.text, muted) for segment in strip.crop(MARGIN)])
        return Strip.join([Strip([Segment(look.signs.left, muted)], MARGIN), words])

    return Rendered([quiet(strip) for strip in drawn.strips], drawn.hidden)


def _name(name: str, style: Style, how: str, time: str, width: int, look: Look) -> Strip:
    left: list[Span] = [(" ", EMPTY), (look.signs.bar, style), (name, style)]
    if how:
        left.append((f"  {how}", look.roles.muted))
    return edge_to_edge(left, [(time, look.roles.muted)] if time else [], width, look)


def _person(block: Said, width: int, look: Look, pages: int) -> Rendered:
    how = {"steer": "steers", "follow_up": "follows up"}.get(block.who, "")
    bar = barred(look, look.roles.you)
    lines, hidden = first_lines(block.text, PAGE * pages or SAID_LINES)
    strips = [_name("you", look.roles.you, how, clock(block.at) if block.at else "", width, look)]
    strips += barred_lines(lines, look.roles.text, bar, width)
    if hidden:
        strips.append(more_line(hidden, look, bar))
    return Rendered(strips, hidden)


def _agent(block: Said, width: int, look: Look, before: Rendered | None) -> Rendered:
    bar = barred(look, look.roles.agent)
    markdown = before.markdown if before else None
    if markdown is None:
        markdown = MarkdownLines(reading_width(width), look, bar)
    markdown.update(block.text[:MARKDOWN_LIMIT])
    strips: list[Strip] = []
    if block.head:
        strips.append(_name("agent", look.roles.agent, "", clock(block.at) if block.at else "", width, look))
    strips += markdown.strips
    if len(block.text) > MARKDOWN_LIMIT:
        words = f"{look.signs.more} {len(block.text) - MARKDOWN_LIMIT:,} more characters"
        strips.append(strip_of(bar, [Segment(words, look.roles.muted)]))
    if block.note:
        strips += barred_lines(plain_lines(block.note), look.roles.warn, bar, width)
    return Rendered(strips, markdown=markdown if block.open else None)


def _thought(block: Thought, width: int, look: Look, pages: int) -> Rendered:
    bar = barred(look, look.roles.muted)
    words = plural(block.words, "word") + (" so far" if block.open else "")
    how = words if pages else f"(folded, {words})"
    strips = [_name("thinking", look.roles.muted + ITALIC, how, "", width, look)]
    if not pages:
        return Rendered(strips, 1)
    lines, hidden = first_lines(block.text.strip("\n"), PAGE * pages)
    strips += barred_lines(lines, look.roles.muted + ITALIC, bar, width)
    if hidden:
        strips.append(more_line(hidden, look, bar))
    return Rendered(strips, hidden)


def _question(block: Question, width: int, look: Look) -> list[Strip]:
    style = look.roles.accent + BOLD
    bar = barred(look, style)
    how = "" if block.by else "waits for you"
    strips = [_name("agent asks", style, how, clock(block.at) if block.at else "", width, look)]
    strips += barred_lines(plain_lines(block.text), look.roles.text, bar, width)
    for number, option in enumerate(block.options, 1):
        strips += barred_lines(plain_lines(f"{number}  {option}"), look.roles.text, bar, width)
    if block.by:
        who = "" if block.by == "person" else f"  ({block.by})"
        strips += barred_lines(plain_lines(f"{look.signs.prompt} {block.answer}{who}"), look.roles.you, bar, width)
    return strips
