"""Where in its script a scripted model is: derived from the request alone.

A restart, a fork or a retry sees the same messages and so goes on at the same turn. Every call carries its place in its
id (``s12-7-1``: answer 12, turn 7, call 1). An answer without calls is known by its text. A summary, which replaces the
messages before it, carries the place in a line of its own, so that a compaction loses nothing either.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.events import TextBlock, ToolCall
from engine.models.script_file import RESULT, Next, Script, When
from engine.prompt.request import Message, Part, ResultPart

ENDED = "The script ends here. Nothing more will happen until another one is chosen."

_ID = re.compile(r"s(\d+)-(\d+)-\d+")
_LINE = re.compile(r"\[script position (\d+) (-?\d+) ([\d:,]*)/([0-9a-f]*)\]")


@dataclass(frozen=True, slots=True)
class Position:
    """``step`` answers were given, the last of them was turn ``turn`` (-1: none yet). ``visits``: plays of each turn.

    inbox: what came in since: results and texts of the person. last: digest of the last answer.
    """

    step: int = 0
    turn: int = -1
    visits: Mapping[int, int] = field(default_factory=dict)
    inbox: tuple[Part, ...] = ()
    last: str = ""

    def line(self) -> str:
        """The position as a line for a summary; `locate` finds it there."""
        visits = ",".join(f"{turn}:{count}" for turn, count in sorted(self.visits.items()))
        return f"[script position {self.step} {self.turn} {visits}/{self.last}]"


def locate(script: Script, messages: Sequence[Message]) -> Position:
    """The position after ``messages``. Answers that are not this script's are passed over."""
    position, start = _from_summary(messages)
    for message in messages[start:]:
        if message.role == "user":
            position = _received(position, message.parts)
        else:
            position = _answered(script, position, message)
    return position


def choose(script: Script, position: Position) -> int:
    """The turn to play now; ``script.end`` when there is none."""
    own = script.turn[position.turn].next if 0 <= position.turn < script.end else ()
    for rule in (*script.next, *own):
        target = script.index(rule.goto)
        if _open(rule, position.visits.get(target, 0)) and fits(rule.when, position.inbox):
            return target
    return min(position.turn + 1, script.end)


def call_id(step: int, turn: int, number: int) -> str:
    """The id of a call: unique in the session and valid for every provider."""
    return f"s{step}-{turn}-{number}"


def fits(when: When, inbox: Sequence[Part]) -> bool:
    """Whether what came in is what the condition asks for."""
    wants_result = when.tool or when.status or when.contains
    if wants_result and not any(_result_fits(when, part) for part in inbox):
        return False
    return not when.says or any(when.says.lower() in text.lower() for text in spoken(inbox))


def spoken(inbox: Sequence[Part]) -> list[str]:
    """What a person said, without the runtime's own notes."""
    texts = [part.text for part in inbox if isinstance(part, TextBlock)]
    return [text for text in texts if not text.startswith("<runtime")]


def filled(text: str, inbox: Sequence[Part]) -> str:
    """``text`` with every ``{{result:PATTERN}}`` replaced by what the newest results hold, empty when nothing fits."""

    def found(match: re.Match[str]) -> str:
        hits = (re.search(match[1], p.text) for p in inbox if isinstance(p, ResultPart))
        return next((hit[1] or "" for hit in hits if hit), "")

    return RESULT.sub(found, text)


def _open(rule: Next, visits: int) -> bool:
    return rule.times is None or visits < rule.times


def _result_fits(when: When, part: Part) -> bool:
    return (
        isinstance(part, ResultPart)
        and when.tool in ("", part.name)
        and (when.status is None or (when.status == "error") == part.is_error)
        and when.contains.lower() in part.text.lower()
    )


def _received(position: Position, parts: Sequence[Part]) -> Position:
    return Position(position.step, position.turn, position.visits, (*position.inbox, *parts), position.last)


def _answered(script: Script, position: Position, message: Message) -> Position:
    """The position after one answer of the model."""
    ids = [m for p in message.parts if isinstance(p, ToolCall) and (m := _ID.fullmatch(p.id))]
    if ids:
        step, turn = int(ids[0][1]), int(ids[0][2])
    elif any(isinstance(p, ToolCall) for p in message.parts):
        return position
    else:
        step, turn = position.step + 1, _turn_that_said(script, position, _text(message))
    if not 0 <= turn <= script.end:
        return position
    visits = {**position.visits, turn: position.visits.get(turn, 0) + 1}
    return Position(step, turn, visits, (), _digest(message))


def _turn_that_said(script: Script, position: Position, text: str) -> int:
    """The turn without calls whose text is ``text``: the expected one first; -1 when none is."""
    candidates: list[int] = [choose(script, position), *range(script.end + 1)]
    for turn in candidates:
        expected = ENDED if turn == script.end else filled(script.turn[turn].text, position.inbox)
        if text == expected.strip() and (turn == script.end or not script.turn[turn].call):
            return turn
    return -1


def _from_summary(messages: Sequence[Message]) -> tuple[Position, int]:
    """The position a summary names, and the index of the first message that is news to it."""
    for index in range(len(messages) - 1, -1, -1):
        match = next((m for m in map(_LINE.search, _texts(messages[index])) if m), None)
        if match:
            visits = {int(turn): int(count) for turn, count in re.findall(r"(\d+):(\d+)", match[3])}
            return _behind_tail(Position(int(match[1]), int(match[2]), visits, (), match[4]), messages, index)
    return Position(), 0


def _behind_tail(position: Position, messages: Sequence[Message], index: int) -> tuple[Position, int]:
    """Skip the answers kept word for word beside the summary: its position counts them already."""
    kept = [i for i, m in enumerate(messages) if i > index and m.role == "assistant" and _digest(m) == position.last]
    if kept:
        return position, kept[-1] + 1
    return _received(position, [p for p in messages[index].parts if not _holds_line(p)]), index + 1


def _holds_line(part: Part) -> bool:
    return isinstance(part, TextBlock) and _LINE.search(part.text) is not None


def _texts(message: Message) -> list[str]:
    return [part.text for part in message.parts if isinstance(part, TextBlock)]


def _text(message: Message) -> str:
    return "\n".join(_texts(message)).strip()


def _digest(message: Message) -> str:
    ids = [part.id for part in message.parts if isinstance(part, ToolCall)]
    return hashlib.sha256("\0".join([_text(message), *ids]).encode("utf-8", "replace")).hexdigest()[:8]
