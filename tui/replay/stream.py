"""A stored message taken apart again: the pieces it came in and when, from its timing track."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from engine.events import AssistantMessage, StreamDelta, TextBlock, ThinkingBlock

IDLE = 2.0
"""Seconds without anything to see that are played at most."""


@dataclass(frozen=True, slots=True)
class Piece:
    """``delta`` appears ``at`` seconds after the request was sent."""

    at: float
    delta: StreamDelta


@dataclass(frozen=True, slots=True)
class _Part:
    """One block's text with what every delta of it says."""

    index: int
    kind: str
    text: str
    name: str = ""
    call_id: str = ""


def pieces_of(message: AssistantMessage) -> tuple[Piece, ...]:
    """The message as it streamed; empty when nobody noted how it came.

    Waits longer than ``IDLE`` are shortened. Together the pieces are exactly the text of the message's blocks.
    """
    parts = _parts(message)
    length = sum(len(part.text) for part in parts)
    track = message.timing.track
    if not length or not track or track[-1][1] <= 0:
        return ()
    # Arguments of calls may have been written with other spaces than ours: the track is stretched to our length.
    scale = length / track[-1][1]
    marks = [0, *(min(length, max(0, round(chars * scale))) for _, chars in track)]
    marks[-1] = length
    times = _times(message.timing.first_token, track)
    found: list[Piece] = []
    done = 0
    for at, upto in zip(times, marks[1:], strict=True):
        if upto > done:
            found += (Piece(at, delta) for delta in _cut(message, parts, done, upto))
            done = upto
    return tuple(found)


def _times(first: float, track: tuple[tuple[int, int], ...]) -> Iterator[float]:
    at = min(max(0.0, first), IDLE)
    yield at
    for (before, _), (now, _) in pairwise(track):
        at += min(max(0.0, (now - before) / 1000), IDLE)
        yield at


def _parts(message: AssistantMessage) -> list[_Part]:
    parts: list[_Part] = []
    for index, block in enumerate(message.blocks):
        if isinstance(block, TextBlock):
            parts.append(_Part(index, "text", block.text))
        elif isinstance(block, ThinkingBlock):
            parts.append(_Part(index, "thinking", block.text))
        else:
            text = block.bad_input or json.dumps(block.input, ensure_ascii=False)
            parts.append(_Part(index, "tool_call", text, block.name, block.id))
    return parts


def _cut(message: AssistantMessage, parts: list[_Part], start: int, end: int) -> Iterator[StreamDelta]:
    """What characters ``start`` to ``end`` of all parts add to each of them."""
    base = 0
    for part in parts:
        text = part.text[max(0, start - base) : max(0, end - base)]
        base += len(part.text)
        if text:
            yield StreamDelta.model_validate(
                {
                    "session": message.session,
                    "turn": message.turn,
                    "index": part.index,
                    "kind": part.kind,
                    "text": text,
                    "name": part.name,
                    "call_id": part.call_id,
                }
            )
