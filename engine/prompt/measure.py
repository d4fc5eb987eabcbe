"""How large the next request will be: what the provider reported last, and what has been added since."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.compaction.visible import chars, in_request
from engine.events import Event, PromptRendered
from engine.prompt import tokens
from engine.state import TaskState


def next_request(events: Sequence[Event], state: TaskState) -> int:
    """Tokens of the request after ``events``. Text not yet reported is counted exactly once it could matter."""
    room = state.context_window - state.context_tokens
    if not state.context_tokens:
        return tokens.estimate(_fixed(events), room) + sum(_size(e, room) for e in in_request(events))
    since: list[Event] = []
    for event in reversed(events):
        if event.type == "compacted" or (event.type == "assistant_message" and event.usage.input):
            break
        since.append(event)
    return state.context_tokens + sum(_size(event, room) for event in since)


def _size(event: Event, room: int) -> int:
    """Tokens ``event`` adds; a large result decides whether the window overflows, so that one is counted."""
    guess = tokens.rough(chars(event))
    if guess < room / 4 or event.type != "tool_result":
        return guess
    return tokens.count(event.text)


def _fixed(events: Sequence[Event]) -> str:
    """Layers A and B as text."""
    rendered = next((e for e in reversed(events) if isinstance(e, PromptRendered)), None)
    if rendered is None:
        return ""
    return rendered.identity + rendered.catalogue + json.dumps([t.model_dump() for t in rendered.tools])
