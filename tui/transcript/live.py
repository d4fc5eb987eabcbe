"""The answer being written: pieces of a stream gathered by their place in the message."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.events import StreamDelta


@dataclass(slots=True)
class LivePart:
    """One block of the message under way. ``block`` is its number in the transcript; pieces wait for ``flush``."""

    block: int
    kind: str
    name: str = ""
    call_id: str = ""
    text: str = ""
    words: int = 0
    pieces: list[str] = field(default_factory=list)

    def flush(self) -> None:
        """Join what came since the last time; words are counted in what is new."""
        new = "".join(self.pieces)
        self.pieces.clear()
        if new:
            glued = bool(self.text) and not self.text[-1].isspace() and not new[0].isspace()
            self.words += len(new.split()) - glued if new.strip() else 0
            self.text += new


@dataclass(slots=True)
class LiveTurn:
    """The parts of one turn's message by index and kind, in the order they began."""

    turn: int
    parts: dict[tuple[int, str], LivePart] = field(default_factory=dict)

    def take(self, delta: StreamDelta, next_block: int) -> tuple[LivePart, bool]:
        """Add a piece; the part it belongs to and whether that is new (and so takes block ``next_block``)."""
        key = (delta.index, delta.kind)
        part = self.parts.get(key)
        fresh = part is None
        if part is None:
            part = self.parts[key] = LivePart(next_block, delta.kind)
        part.name = delta.name or part.name
        part.call_id = delta.call_id or part.call_id
        if delta.text:
            part.pieces.append(delta.text)
        return part, fresh

    def claim(self, kind: str, call_id: str = "") -> LivePart | None:
        """Take out the first part that a stored block of this kind is the finished form of."""
        for key, part in self.parts.items():
            if part.kind == kind and (not call_id or part.call_id in ("", call_id)):
                return self.parts.pop(key)
        return None
