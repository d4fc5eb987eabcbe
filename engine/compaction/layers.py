"""The layers below the summary, chosen together: what was superseded goes (drop), what can be said in short is
(digest), the rest becomes a pointer (offload). All in one go, because each time costs the provider's cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.compaction.digest import digest_of
from engine.compaction.offload import KEPT_TOOLS, MIN_CHARS, RECENT_TURNS, is_movable, is_skill, old_results
from engine.compaction.offload_text import has_way_back, pointer_text, way_back
from engine.compaction.superseded import superseded
from engine.compaction.visible import in_request, stand_ins, tokens
from engine.events import Event, ToolResult

Kind = Literal["offload", "drop", "digest"]
Keep = Callable[[bytes], str]
# What stands in for a result must be smaller than this share of it.
_SMALLER = 0.5
# As long as a digest is, for measuring before anything is stored.
_UNKNOWN = "0" * 64


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer's part: a text for each call it stands in for, empty for a pointer. artifact: where those texts are
    kept whole that could not be had again. saved: about how many tokens that frees."""

    kind: Kind
    texts: dict[str, str]
    artifact: str = ""
    saved: int = 0


def choose_layers(
    events: Sequence[Event],
    gain: int = 1,
    recent: int = RECENT_TURNS,
    enough: int | None = None,
    keep: Keep | None = None,
) -> tuple[Layer, ...]:
    """What to shorten now, by layer; each call is in one of them, and none that anything stands in for already.

    Only results older than the ``recent`` last answers, oldest first. Nothing when together they would free fewer than
    ``gain`` tokens; no more of them once they free ``enough``. keep: stores what could not be had again and returns
    the digest under which it is read; without it, or when it returns "", such results stay.
    """
    found = _candidates(events, recent, keep is not None)
    chosen, saved = [], 0
    for one in found:
        if enough is not None and saved >= enough:
            break
        chosen.append(one)
        saved += one.saved
    if not chosen or saved < gain:
        return ()
    kinds: tuple[Kind, ...] = ("offload", "drop", "digest")
    layers = (_layer(kind, [one for one in chosen if one.kind == kind], keep) for kind in kinds)
    return tuple(layer for layer in layers if layer.texts)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A result that may go. text: what stands in for it, given the sentence with the way back; "" for a pointer."""

    result: ToolResult
    kind: Kind
    text: Callable[[str], str]

    @property
    def saved(self) -> int:
        return tokens(len(self.result.text) - len(self.rendered(_UNKNOWN, 1) or pointer_text(self.result)))

    def rendered(self, artifact: str, line: int) -> str:
        """The text, when what could not be had again stands in ``artifact`` from ``line`` on."""
        if has_way_back(self.result) or self.result.name in KEPT_TOOLS:
            return self.text(way_back(self.result))
        return self.text(
            f"Read it with fs_read, path artifact:{artifact}, offset {line}, limit {_lines(self.result.text)}."
        )

    @property
    def needs_keeping(self) -> bool:
        return self.kind != "offload" and not has_way_back(self.result) and self.result.name not in KEPT_TOOLS


def _candidates(events: Sequence[Event], recent: int, keeps: bool) -> list[_Candidate]:
    already, gone = stand_ins(events), superseded(events)
    found = []
    for result in old_results(in_request(events), recent):
        # What came from outside keeps the words that say so, and its source.
        if result.call_id in already or is_skill(result) or result.external is not None:
            continue
        one = _candidate(result, gone.get(result.call_id, ""))
        if one is not None and (keeps or not one.needs_keeping):
            found.append(one)
    return found


def _candidate(result: ToolResult, gone: str) -> _Candidate | None:
    if gone:
        kept = has_way_back(result) or result.name in KEPT_TOOLS
        dropped = _Candidate(result, "drop", lambda back: gone if kept else f"{gone} [{back}]")
        return dropped if _is_smaller(dropped) else None
    if result.name not in KEPT_TOOLS and len(result.text) >= MIN_CHARS:
        short = _Candidate(result, "digest", lambda back: digest_of(result, back))
        if short.text("") and _is_smaller(short):
            return short
    return _Candidate(result, "offload", lambda back: "") if is_movable(result) else None


def _is_smaller(one: _Candidate) -> bool:
    return len(one.rendered(_UNKNOWN, 1)) < _SMALLER * len(one.result.text)


def _layer(kind: Kind, chosen: list[_Candidate], keep: Keep | None) -> Layer:
    """The layer, with what could not be had again stored, in one artifact: its lines are where the texts say."""
    places, line, stored = {}, 1, []
    for one in chosen:
        if one.needs_keeping:
            places[one.result.call_id] = line
            stored.append(one.result.text)
            line += _lines(one.result.text)
    artifact = keep("\n".join(stored).encode()) if keep is not None and stored else ""
    kept = [one for one in chosen if artifact or one.result.call_id not in places]
    texts = {one.result.call_id: one.rendered(artifact, places.get(one.result.call_id, 0)) for one in kept}
    return Layer(kind, texts, artifact, sum(one.saved for one in kept))


def _lines(text: str) -> int:
    return text.count("\n") + 1
