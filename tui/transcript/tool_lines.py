"""A tool call as lines: one line always, a few of its output when it runs or failed, all of it on request."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.diff import diff_lines, folded, stat_text
from tui.format import duration, size
from tui.transcript.blocks import OWN
from tui.transcript.kinds import Tool, Whole
from tui.transcript.look import BOLD, EMPTY, Look
from tui.transcript.neutral import coloured_lines, first_lines, plain_lines
from tui.transcript.pictures import picture_strips
from tui.transcript.rows import INDENT, RIGHT, below, body_width, edge_to_edge, more_line
from tui.transcript.wrap import Span, shorten, strip_of, width_of

PAGE = 400
"""Lines of output shown at a time when a call is unfolded."""
TAIL_LINES = 3
OWN_LINES = 12
"""Of a command a person ran: it was run to be read."""
_NAME_WIDTH = 10
_TIME_WIDTH = 8
_SUMMARY_WIDTH = 12
_WIDE = 64

_WORDS = {
    "writing": "being written",
    "pending": "waits",
    "asks": "waits for you",
    "running": "running",
    "denied": "denied",
    "cancelled": "cancelled",
    "skipped": "skipped",
}


def tool_strips(tool: Tool, width: int, look: Look, pages: int, full: Whole | None) -> tuple[list[Strip], int]:
    """The lines of a call and how many lines of its output are not shown.

    pages: how much of it a person asked for, 0 when it is folded. full: the whole output, or the picture, when it has
    been fetched.
    """
    strips = [_line(tool, width, look), *_decision(tool, width, look)]
    if pages:
        if tool.picture:
            more, hidden = picture_strips(tool, width, look, None if isinstance(full, str) else full)
        else:
            more, hidden = _unfolded(tool, width, look, pages, full if isinstance(full, str) else None)
        return strips + more, hidden
    if tool.state == "running":
        strips += _tail(tool.tail, width, look)[0]
    elif tool.state == "error" or tool.name == OWN:
        tail, hidden = _tail(tool.text, width, look, OWN_LINES if tool.name == OWN else TAIL_LINES)
        strips += tail
        if hidden:
            strips.append(more_line(hidden, look, [Segment(" " * INDENT)]))
    return strips, _hidden_when_folded(tool)


def _hidden_when_folded(tool: Tool) -> int:
    """Whether there is anything to unfold."""
    return 1 if tool.diff or tool.text.strip() or tool.tail.strip() else 0


def _line(tool: Tool, width: int, look: Look) -> Strip:
    sign, style = _sign(tool, look)
    name = tool.name or "tool"
    padded = name if width < _WIDE else f"{name:<{_NAME_WIDTH}}"
    left: list[Span] = [(" ", EMPTY), (sign, style), (f" {padded}", look.roles.tool), ("  ", EMPTY)]
    right = _facts(tool, width, look)
    used = sum(width_of(text) for text, _ in (*left, *right))
    room = width - RIGHT - used - (2 if right else 0)
    title = shorten(tool.title, room, look.signs.ellipsis, keep_end=name.startswith("fs_")) if room > 4 else tool.title
    return edge_to_edge([*left, (title, look.roles.text)], right, width, look)


def _decision(tool: Tool, width: int, look: Look) -> list[Strip]:
    """What a person said, before anything that came of it."""
    if not tool.decision:
        return []
    style = look.roles.warn if tool.decision.startswith("denied") else look.roles.muted
    return below([(tool.decision, style)], width)


def _sign(tool: Tool, look: Look) -> tuple[str, Style]:
    signs, roles = look.signs, look.roles
    return {
        "writing": (signs.waits, roles.muted),
        "pending": (signs.waits, roles.muted),
        "asks": (signs.waits, roles.warn + BOLD),
        "running": (signs.running, roles.accent),
        "ok": (signs.done, roles.ok),
        "error": (signs.failed, roles.danger),
        "denied": (signs.risk, roles.warn + BOLD),
        "cancelled": (signs.paused, roles.warn),
        "skipped": (signs.todo, roles.muted),
    }[tool.state]


def _facts(tool: Tool, width: int, look: Look) -> list[Span]:
    """Time and summary, in columns of their own where there is room."""
    word = _WORDS.get(tool.state, "")
    summary = stat_text(tool.diff) if tool.diff and tool.state == "ok" else tool.summary
    if tool.state == "writing" and tool.size:
        summary = size(tool.size)
    time = duration(tool.seconds) if tool.seconds else ""
    if width < _WIDE:
        fact = word or summary or time
        return [(shorten(fact, width // 3, look.signs.ellipsis), _fact_style(tool, look))] if fact else []
    if word:
        # The reason of a denial stands below, whole; here it would only take the room of what was denied.
        more = "" if tool.state == "denied" else shorten(summary, width // 3, look.signs.ellipsis)
        return [(f"{word}  {more}".rstrip(), _fact_style(tool, look))]
    summary = shorten(summary, width // 3, look.signs.ellipsis)
    return [
        (f"{time:>{_TIME_WIDTH}}", look.roles.muted),
        (f"  {summary:>{_SUMMARY_WIDTH}}", _fact_style(tool, look)),
    ]


def _fact_style(tool: Tool, look: Look) -> Style:
    if tool.state in ("asks", "denied", "cancelled"):
        return look.roles.warn
    return look.roles.danger if tool.state == "error" else look.roles.muted


def _tail(text: str, width: int, look: Look, most: int = TAIL_LINES) -> tuple[list[Strip], int]:
    """The last lines of an output, one line of the screen each, and how many are above them."""
    recent = [line for line in plain_lines(text[-4_000:]) if line.strip()]
    shown = recent[-most:]
    room = body_width(width, INDENT)
    lead = Segment(" " * INDENT)
    strips = [
        strip_of((lead,), [Segment(shorten(line, room, look.signs.ellipsis), look.roles.muted)]) for line in shown
    ]
    return strips, max(0, text.count("\n") + (not text.endswith("\n")) - len(shown)) if text.strip() else 0


def _unfolded(tool: Tool, width: int, look: Look, pages: int, full: str | None) -> tuple[list[Strip], int]:
    if tool.diff:
        # A step deeper is first the context that was folded, then what is beyond a page.
        lines, hidden = diff_lines(tool.diff, body_width(width, INDENT), look, PAGE * pages, whole=pages > 1)
        strips = [strip_of((Segment(" " * INDENT),), line) for line in lines]
        if not hidden and pages == 1 and (context := folded(tool.diff)):
            return [*strips, more_line(context, look, [Segment(" " * INDENT)], "unchanged line")], context
    else:
        text = tool.tail if tool.state == "running" else tool.text if full is None else full
        raw, hidden = first_lines(text, PAGE * pages)
        decode = coloured_lines()
        strips = [strip for line in raw for strip in below(_toned(decode(line), look), width, hard=True)]
        if not raw:
            strips = below([("(no output)", look.roles.muted)], width)
    if hidden:
        strips.append(more_line(hidden, look, [Segment(" " * INDENT)]))
    elif tool.digest and full is None:
        strips += below([(f"{look.signs.more} the rest is stored with the session", look.roles.muted)], width)
    return strips, hidden


def _toned(spans: list[Span], look: Look) -> list[Span]:
    return [(text, look.roles.text + style) for text, style in spans]
