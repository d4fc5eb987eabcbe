"""todo.md: a Markdown checklist that the model writes and people edit. Pure functions between items and text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from engine.events import TodoItem

FILE_NAME = "todo.md"
HEADING = "# Todo"
_MARK = {"pending": " ", "active": "~", "done": "x"}
_STATUS: dict[str, Literal["pending", "active", "done"]] = {
    **dict.fromkeys("xX✓✔vV☑", "done"),
    **dict.fromkeys("~>/-*.●", "active"),
}
_BULLET = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?P<text>.*))?$")
_BOX = re.compile(r"^\[(?P<mark>[^\[\]]?)\](?:[ \t]+(?P<text>.*))?$")


def parse_todo(text: str) -> tuple[TodoItem, ...]:
    """The items of a checklist as people write one: any bullet or number, with or without a box, at any depth.

    An empty or unknown box is pending. Lines that are no items are notes, see `notes_of`.
    """
    return tuple(item for line in _lines(text) if (item := _item(line)) is not None)


def render_todo(items: Iterable[TodoItem], notes: str = "") -> str:
    """The checklist as text, with ``notes`` below it. Items keep their order; each is put on one line."""
    rows = [f"- [{_MARK[item.status]}] {flat(item.text)}" for item in items]
    body = "\n".join((HEADING, "", *rows)) + "\n"
    return f"{body}\n{notes}\n" if notes else body


def notes_of(text: str) -> str:
    """What a person wrote into the file besides items and our heading, kept when the list is written anew."""
    kept = [line.rstrip() for line in _lines(text) if _item(line) is None and line.strip() != HEADING]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")


def flat(text: str) -> str:
    """``text`` with every run of white space, line breaks included, as one space."""
    return " ".join(text.split())


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _item(line: str) -> TodoItem | None:
    bullet = _BULLET.match(line)
    if bullet is None:
        return None
    rest = flat(bullet["text"] or "")
    box = _BOX.match(rest)
    text = (box["text"] or "") if box else rest
    if not text:
        return None
    return TodoItem(text=text, status=_STATUS.get(box["mark"], "pending") if box else "pending")
