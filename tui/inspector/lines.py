"""The lines around the blocks: which request it is, what was predicted and reported, the chart, and why it broke."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from tui import format
from tui.look import Look, clip, one_line, spread, wrapped

if TYPE_CHECKING:
    from engine.queries import InspectedRequest, RequestLine, Split

WIDE = 100


def head_line(request: InspectedRequest | None, width: int, look: Look) -> Text:
    """Which request, its size and cost; on the right whether the cache did what was predicted."""
    if request is None:
        return Text(" context inspector", style=look.roles.muted)
    bold = look.roles.text + Style(bold=True)
    name = request.model if width >= WIDE else request.model.rpartition("/")[2]
    facts = [one_line(name), f"{request.tokens:,} tokens", format.money(request.cost)]
    dot = f" {look.signs.todo} "
    left = Text.assemble(
        (f" request {request.number} of {request.count}", bold), "   ", (dot.join(facts), look.roles.muted)
    )
    return spread(left, _verdict(request, look), width, look.signs.ellipsis)


def _verdict(request: InspectedRequest, look: Look) -> Text:
    if request.reported is None:
        return Text(f"{look.signs.waits} nothing reported ", style=look.roles.muted)
    if request.as_predicted:
        return Text(f"{look.signs.done} as predicted ", style=look.roles.ok)
    return Text(f"{look.signs.failed} not as predicted ", style=look.roles.danger)


def prediction_line(request: InspectedRequest | None, width: int, look: Look) -> Text:
    """Tokens read, written and new, as predicted and as reported."""
    if request is None:
        return Text()
    parts = [_split("predicted", request.predicted, width, look)]
    if request.reported is not None:
        parts.append(_split("reported", request.reported, width, look))
    return clip(Text.assemble(" ", Text("     ").join(parts)), width, look.signs.ellipsis)


def _split(word: str, split: Split, width: int, look: Look) -> Text:
    line = Text.assemble((f"{word}  ", look.roles.muted), ("read ", look.roles.ok), f"{split.read:,}")
    if width >= WIDE:
        line.append_text(Text.assemble(("  write ", look.roles.tool), f"{split.write:,}"))
        line.append_text(Text.assemble(("  new ", look.roles.warn), f"{split.new:,}"))
    return line


def chart(lines: Sequence[RequestLine], turn: int, width: int, look: Look) -> Text:
    """Two lines: a bar a request, its height the share read from the cache; below it where we are and what broke."""
    if not lines:
        return Text(" reading the other requests", style=look.roles.muted)
    label = " cache hits  "
    room = max(1, width - len(label) - 1)
    at = next((n for n, line in enumerate(lines) if line.turn == turn), 0)
    start = max(0, min(at - room // 2, len(lines) - room))
    bars, marks = Text(label, style=look.roles.muted), Text(" " * len(label))
    here = "^" if look.signs.rule.isascii() else "▲"
    for n, line in enumerate(lines[start : start + room], start):
        bars.append(_bar(line, look), look.roles.danger if line.broken else look.roles.ok)
        mark = here if n == at else look.signs.failed if line.broken else " "
        marks.append(mark, look.roles.accent if n == at else look.roles.danger)
    broken = sum(line.broken for line in lines)
    legend = f"  {here} here   {look.signs.failed} {format.plural(broken, 'break')}" if broken else f"  {here} here"
    if marks.cell_len + len(legend) <= width:
        marks.append(legend, look.roles.muted)
    return Text.assemble(bars, "\n", marks)


def _bar(line: RequestLine, look: Look) -> str:
    if not line.read or not line.input:
        return look.signs.todo
    steps = look.signs.steps
    return steps[min(len(steps) - 1, line.read * len(steps) // line.input)]


def against_lines(request: InspectedRequest | None, width: int, look: Look) -> Text:
    """Up to three lines: how far it is as the request before and why no further; then the rules or what is wrong."""
    if request is None:
        return Text()
    style = look.roles.danger if request.broken else look.roles.muted
    sign = look.signs.failed if request.broken else look.signs.unfolded
    said = f"against request {request.number - 1}: {_same(request)}"
    if not request.against:
        said = f"{request.cause}: nothing to compare with"
    broken = wrapped(said, width - 4, 2, look.signs.ellipsis)
    lines = [Text(f" {sign} {broken[0]}", style=style), *(Text(f"   {x}", style=style) for x in broken[1:])]
    return Text("\n").join([*(clip(line, width) for line in lines), _note(request, width, look)])


def _same(request: InspectedRequest) -> str:
    cause = one_line(request.cause)
    if request.broken and cause == "appended":
        return f"same to block {request.same}, but {one_line(request.why)}"
    return f"same to block {request.same}, then {cause}" if request.same else cause


def _note(request: InspectedRequest, width: int, look: Look) -> Text:
    if request.exact is False:
        text, style = "this version of the app builds it otherwise than it was sent", look.roles.warn
    elif request.why and request.why not in _same(request):
        text, style = request.why, look.roles.warn
    else:
        text, style = request.rules, look.roles.muted
    return clip(Text(f"   {one_line(text)}", style=style), width, look.signs.ellipsis)
