"""What waits to be said, as a person wants it: ahead of the engine's word for it, and nothing they wrote is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.commands import ArrangeQueue
from engine.text import clean

if TYPE_CHECKING:
    from engine.commands import Command
    from engine.events import Event
    from engine.state import TaskState


@dataclass(frozen=True, slots=True)
class Item:
    """A message that waits: kind is steer or follow_up. Without text it is being taken back."""

    id: str
    kind: str
    text: str


class Arranging:
    """``send`` hands a command for the session to the engine. Every change is sent at once, and shows at once: the next
    key counts from what the last one asked for, however long the engine takes to agree."""

    def __init__(self, send: Callable[[Callable[[str], Command]], None]) -> None:
        self._send = send
        self._known: tuple[Item, ...] = ()
        self._wanted: tuple[Item, ...] | None = None
        self._written: dict[str, str] = {}

    @property
    def items(self) -> tuple[Item, ...]:
        """What waits, in the order of delivery within its kind."""
        whole = self._known if self._wanted is None else self._wanted
        return tuple(item for item in whole if item.text)

    def of(self, kind: str) -> tuple[Item, ...]:
        """What waits of one kind."""
        return tuple(item for item in self.items if item.kind == kind)

    def find(self, id: str) -> Item | None:
        """The message called ``id``, while it waits."""
        return next((item for item in self.items if item.id == id), None)

    def clear(self) -> None:
        """Another session."""
        self._known, self._wanted = (), None
        self._written.clear()

    # --- from the engine ---------------------------------------------------------------------------------------------

    def follow(self, state: TaskState) -> None:
        """Take the newest task state. What is asked for stands until the engine has it, for what still waits."""
        self._known = tuple(Item(p.id, p.kind, p.text) for p in state.pending)
        if self._wanted is not None:
            waits, named = {item.id for item in self._known}, {item.id for item in self._wanted}
            new = (item for item in self._known if item.id not in named)
            self._wanted = (*(item for item in self._wanted if item.id in waits), *new)
            if self._wanted == self._known:
                self._wanted = None

    def too_late(self, events: Iterable[Event]) -> list[str]:
        """Texts a person wrote for messages that went out as they were before, or not at all."""
        lost = []
        for event in events:
            if event.type == "queue_arranged":
                for item in event.items:
                    if self._written.get(item.id) == item.text:
                        del self._written[item.id]
            elif event.type == "user_message" or (event.type == "message_withdrawn" and event.reason):
                written = self._written.pop(event.id, "")
                if written and (event.type != "user_message" or event.text != written):
                    lost.append(written)
            elif event.type == "message_withdrawn":
                self._written.pop(event.id, None)
        return lost

    # --- from a person -----------------------------------------------------------------------------------------------

    def change(self, id: str, text: str) -> None:
        """Other words for it; none take it back."""
        text = clean(text).rstrip() if text.strip() else ""
        found = self.find(id)
        if found is None or found.text == text:
            return
        if text:
            self._written[id] = text
        self._ask(tuple(replace(item, text=text) if item.id == id else item for item in self._all))

    def remove(self, id: str) -> None:
        """Take it back."""
        self.change(id, "")

    def turn(self, id: str) -> None:
        """Make a steer a follow-up, the last one; or a follow-up a steer."""
        found = self.find(id)
        if found is not None:
            other = replace(found, kind="follow_up" if found.kind == "steer" else "steer")
            self._ask((*(item for item in self._all if item.id != id), other))

    def move(self, id: str, by: int) -> bool:
        """Earlier (-1) or later (1) among those of its kind; False at the end of them."""
        found = self.find(id)
        same = [item.id for item in self.of(found.kind)] if found else []
        at = same.index(id) + by if found else -1
        if not 0 <= at < len(same):
            return False
        items = list(self._all)
        here, there = (next(n for n, item in enumerate(items) if item.id == one) for one in (id, same[at]))
        items[here], items[there] = items[there], items[here]
        self._ask(tuple(items))
        return True

    @property
    def _all(self) -> tuple[Item, ...]:
        return self._known if self._wanted is None else self._wanted

    def _ask(self, items: tuple[Item, ...]) -> None:
        self._wanted = items
        said = tuple((item.id, item.kind, item.text) for item in items)
        self._send(lambda session: ArrangeQueue(session, said))
