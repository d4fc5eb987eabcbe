"""The kinds of blocks a transcript is made of: plain frozen data, one block for what a person takes as one thing."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from engine.events import ToolResult
from engine.queries import PictureShown

ToolState = Literal["writing", "pending", "asks", "running", "ok", "error", "denied", "cancelled", "skipped"]
Level = Literal["ok", "info", "warn", "danger"]
CallKey = tuple[int, str]
"""The event a call began with, and its id."""
Jump = Literal["user", "agent", "tool", "approval", "error", "edit"]

_TITLE_KEYS = ("path", "command", "pattern", "query", "question", "url", "name", "file", "skill")
_PARTIAL = re.compile(f'"({"|".join(_TITLE_KEYS)})"' + r'\s*:\s*"((?:[^"\\]|\\.)*)')


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a person or of the agent. ``who`` says how they came; ``note`` is set when they were cut off.

    ``head`` False: the speaker goes on, no name is needed. ``at`` None: still being written.
    """

    seq: int
    who: Literal["prompt", "steer", "follow_up", "agent"]
    text: str
    at: datetime | None = None
    head: bool = True
    open: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking of the model; folded unless a person asks. ``words`` counts them."""

    seq: int
    text: str
    words: int
    open: bool = False


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool call and what came of it. ``tail``: the newest output of a running call; ``size``: characters of its
    arguments while they are being written. digest: of the whole output when ``text`` is only its beginning.
    decision: what a person (or the clock) said when it was asked for, in words. command: the whole command line.
    picture: the file it read, when that is a picture."""

    seq: int
    call_id: str
    turn: int
    name: str
    title: str = ""
    state: ToolState = "pending"
    summary: str = ""
    seconds: float = 0.0
    text: str = ""
    diff: str = ""
    tail: str = ""
    digest: str = ""
    size: int = 0
    decision: str = ""
    command: str = ""
    picture: str = ""

    @property
    def key(self) -> CallKey:
        """What tells it from the other calls: those of one message share its event."""
        return self.seq, self.call_id


@dataclass(frozen=True, slots=True)
class Note:
    """One line about what happened. label: a word or two; text: the rest of it; right: a fact at the right edge;
    detail: more lines below it; folded: what only a person who asks sees."""

    seq: int
    kind: Literal["approval", "notice", "compaction", "finished", "retry", "error"]
    level: Level
    label: str
    text: str = ""
    right: str = ""
    detail: str = ""
    folded: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What the model asked a person, and the answer. ``by`` is empty while nobody has answered."""

    seq: int
    text: str
    options: tuple[str, ...] = ()
    answer: str = ""
    by: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """What a retry made void. It has no lines."""

    seq: int = 0


Block = Said | Thought | Tool | Note | Question | Gone
Whole = str | PictureShown
"""What a call's event does not hold and is fetched when somebody unfolds it: all of its output, or its picture."""


def picture_of(result: ToolResult) -> str:
    """The file a call read, when that is a picture; else empty."""
    if result.status != "ok" or not result.files_read:
        return ""
    paths = (row.get("path") for row in result.items if row.get("kind") == "image")
    return next((path for path in paths if isinstance(path, str)), "")


def needs_gap(before: Block, block: Block) -> bool:
    """Whether one blank line parts two blocks that follow each other: lines of one list stand together."""
    group = _list_of(block)
    return not group or group != _list_of(before)


def _list_of(block: Block) -> str:
    """The list a block is a line of; empty when it has space around it."""
    if isinstance(block, Tool) or (isinstance(block, Note) and block.kind in ("approval", "retry")):
        return "calls"
    return "notices" if isinstance(block, Note) and block.kind == "notice" else ""


def source_text(block: Block) -> str:
    """All the text of a block as it came, for search and for copying."""
    if isinstance(block, Said | Thought):
        return block.text
    if isinstance(block, Tool):
        head = f"{block.name} {block.title}".rstrip()
        return "\n".join(part for part in (head, block.decision, block.diff or block.text, block.tail) if part)
    if isinstance(block, Note):
        head = " ".join(part for part in (block.label, block.text, block.right) if part)
        return "\n".join(part for part in (head, block.detail, block.folded) if part)
    if isinstance(block, Question):
        return "\n".join(part for part in (block.text, *block.options, block.answer) if part)
    return ""


def jumps_of(block: Block) -> tuple[Jump, ...]:
    """The kinds of jump that land on a block."""
    if isinstance(block, Said):
        return ("agent",) if block.who == "agent" else ("user",)
    if isinstance(block, Tool):
        failed: tuple[Jump, ...] = ("error",) if block.state in ("error", "denied", "cancelled") else ()
        edited: tuple[Jump, ...] = ("edit",) if block.diff else ()
        asks: tuple[Jump, ...] = ("approval",) if block.state == "asks" or block.decision else ()
        return ("tool", *failed, *edited, *asks)
    if isinstance(block, Note):
        if block.kind == "approval":
            return ("approval",)
        return ("error",) if block.level == "danger" else ()
    return ("approval",) if isinstance(block, Question) else ()


def title_of(arguments: Mapping[str, Any]) -> str:
    """One line that says what a call is about, from its arguments, until the tool itself says it."""
    for key in _TITLE_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return _one_line(value)
    return ""


def partial_title(arguments: str) -> str:
    """The same from JSON that is still being written: only its beginning is looked at."""
    found = _PARTIAL.search(arguments[:2_000])
    if not found:
        return ""
    text = found.group(2)
    try:
        text = json.loads(f'"{text}"', strict=False)
    except ValueError:
        pass  # it ends within an escape: shown as written
    return _one_line(text)


def _one_line(text: str) -> str:
    lines = text.strip().split("\n", 1)
    return f"{lines[0][:500]} …" if len(lines) > 1 or len(lines[0]) > 500 else lines[0]
