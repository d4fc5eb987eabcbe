"""Notes as lines: one line each where it fits, and nothing a person must read is cut."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.transcript.kinds import Note
from tui.transcript.look import BOLD, EMPTY, Look
from tui.transcript.neutral import first_lines, plain_lines
from tui.transcript.rows import INDENT, RIGHT, below, edge_to_edge, more_line
from tui.transcript.wrap import Span, width_of

PAGE = 400
"""Lines of what is folded shown at a time."""


def note_strips(note: Note, width: int, look: Look, pages: int) -> tuple[list[Strip], int]:
    """The lines of a note and how many lines of it are not shown."""
    sign, style = _sign(note, look)
    tone = look.roles.muted if note.kind in ("approval", "retry") or note.level == "info" else look.roles.text
    head: list[Span] = [(" ", EMPTY), (f"{sign} ", style)]
    if note.label:
        head.append((note.label, look.roles.muted + BOLD if note.level == "info" else style))
    right = [(note.right, look.roles.muted)] if note.right else []
    first, *others = plain_lines(note.text)
    line: list[Span] = [*head, ("  " if note.label and first else "", EMPTY), (first, tone)]
    hidden = 0
    if not others and _fits(line, right, width):
        strips = [edge_to_edge(line, right, width, look)]
    elif note.kind in ("approval", "retry") and not pages:
        strips, hidden = [edge_to_edge(line, right, width, look)], len(others) + 1
    else:
        strips = _whole(note, head, right, tone, width, look)
    strips += _below(note.detail, look.roles.muted, width)
    if note.folded and not pages:
        hidden = note.folded.count("\n") + 1
    elif note.folded:
        shown, hidden = first_lines(note.folded, PAGE * pages)
        strips += [strip for text in shown for strip in below([(text, look.roles.muted)], width)]
        if hidden:
            strips.append(more_line(hidden, look, [Segment(" " * INDENT)]))
    return strips, hidden


def _fits(left: list[Span], right: list[Span], width: int) -> bool:
    return sum(width_of(text) for text, _ in (*left, *right)) + (2 if right else 0) + RIGHT <= width


def _whole(note: Note, head: list[Span], right: list[Span], tone: Style, width: int, look: Look) -> list[Strip]:
    """The text in full: below the label, or beside the sign when there is none."""
    text = _below(note.text, tone, width)
    if note.label or not text:
        return [edge_to_edge(head, right, width, look), *text]
    beside = [Segment(piece, style) for piece, style in head]
    return [Strip([*beside, *list(text[0])[1:]]), *text[1:]]


def _below(text: str, tone: Style, width: int) -> list[Strip]:
    if not text:
        return []
    return [strip for line in plain_lines(text) for strip in below([(line, tone)], width)]


def _sign(note: Note, look: Look) -> tuple[str, Style]:
    signs, roles = look.signs, look.roles
    if note.label == "paused" or (note.kind == "finished" and note.label == "interrupted"):
        return signs.paused, roles.warn + BOLD
    return {
        "ok": (signs.done, roles.ok + BOLD if note.kind == "finished" else roles.ok),
        "info": (signs.todo, roles.muted),
        "warn": (signs.risk, roles.warn + BOLD),
        "danger": (signs.failed, roles.danger),
    }[note.level]
