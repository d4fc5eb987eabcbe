"""Makes any history one that every provider accepts: pure, idempotent, and never changing what was sent before.

Afterwards roles alternate and the user speaks first; each call has exactly one result, in the next message, in call
order; ids and names are valid, ids unique; nothing is empty; no assistant message ends with thinking.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Literal

from engine.events import TextBlock, ThinkingBlock, ToolCall
from engine.models.sanitize import CALL_ID, tidy_name
from engine.prompt.request import Message, Part, ResultPart

INTERRUPTED = "Interrupted before a result was recorded. It may have had side effects: check before doing it again."
NO_OUTPUT = "(no output)"
Role = Literal["user", "assistant"]
OPENING = "(The conversation begins here.)"


def repair(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """``messages`` as providers accept them.

    Results pair with the calls of the assistant message right before them, never across it: an id used again in a
    later turn is another call, and gets another id. A call without a result gets one that says it was interrupted;
    results without a call go. The repair of the messages before any assistant message is, part by part, how the
    repair of all of them begins.
    """
    transcript = Transcript()
    for message in messages:
        transcript.take(message)
    return transcript.messages()


class Transcript:
    """The repaired messages so far, and the user turn being collected: results wanted, results got, texts. Only an
    answer closes that turn, so that it makes no difference in how many messages its parts come."""

    def __init__(self) -> None:
        self._out: list[tuple[Role, list[Part]]] = []
        self._ids: set[str] = set()
        self._calls = 0
        self._open: list[ToolCall] = []
        self._wanted: dict[str, deque[ToolCall]] = {}
        self._got: dict[str, ResultPart] = {}
        self._texts: list[Part] = []

    def take(self, message: Message) -> None:
        """Go on with ``message``."""
        if message.role == "assistant":
            self._add("user", self._collected())
            self._open, self._wanted, self._got, self._texts = [], {}, {}, []
            self._assistant(message.parts)
        else:
            self.user(message.parts)

    def messages(self) -> tuple[Message, ...]:
        """The messages that are not shifted out, as they would be sent now. Nothing is closed by asking."""
        out, parts = [Message(role, tuple(given)) for role, given in self._out], self._collected()
        if parts and out and out[-1].role == "user":
            out[-1] = Message("user", (*out[-1].parts, *parts))
        elif parts:
            out.append(Message("user", tuple(parts)))
        return tuple(out)

    def shift(self) -> list[Message]:
        """Take out the messages that can change no more: all but the last, to which parts may still be added."""
        done = [Message(role, tuple(parts)) for role, parts in self._out[:-1]]
        del self._out[:-1]
        return done

    def user(self, parts: Iterable[Part]) -> None:
        """More of the user turn."""
        for part in parts:
            if isinstance(part, TextBlock) and part.text.strip():
                self._texts.append(part)
            elif isinstance(part, ResultPart) and self._wanted.get(part.call_id):
                call = self._wanted[part.call_id].popleft()
                text = part.text if part.text.strip() else NO_OUTPUT
                self._got[call.id] = ResultPart(call.id, call.name, text, part.is_error)

    def _collected(self) -> list[Part]:
        """The user turn so far: all results in call order, then the texts."""
        results = [self._got.get(c.id) or ResultPart(c.id, c.name, INTERRUPTED, is_error=True) for c in self._open]
        return [*results, *self._texts]

    def _assistant(self, parts: Iterable[Part]) -> None:
        said = [part for part in parts if _says_something(part)]
        while said and isinstance(said[-1], ThinkingBlock):
            said.pop()
        if said and not self._out:
            self._add("user", [TextBlock(text=OPENING)])
        self._add("assistant", [self._tidy(part) if isinstance(part, ToolCall) else part for part in said])

    def _tidy(self, call: ToolCall) -> ToolCall:
        self._calls += 1
        tidy = call.model_copy(update={"id": self._new_id(call.id), "name": tidy_name(call.name)})
        self._open.append(tidy)
        self._wanted.setdefault(call.id, deque()).append(tidy)
        return tidy

    def _new_id(self, wished: str) -> str:
        """``wished`` if it is valid and new, else one made of the call's place, which longer histories keep."""
        chosen, tries = wished, 0
        while CALL_ID.fullmatch(chosen) is None or chosen in self._ids:
            chosen = f"call_{self._calls}" + (f"_{tries}" if tries else "")
            tries += 1
        self._ids.add(chosen)
        return chosen

    def _add(self, role: Role, parts: list[Part]) -> None:
        if parts and self._out and self._out[-1][0] == role:
            self._out[-1][1].extend(parts)
        elif parts:
            self._out.append((role, parts))


def _says_something(part: Part) -> bool:
    match part:
        case TextBlock():
            return bool(part.text.strip())
        case ThinkingBlock():
            return bool(part.text.strip() or part.opaque)
        case ToolCall():
            return True
        case ResultPart():
            return False
