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

Keep = Callable[[bytes], str]
# A digest must be smaller than this share of the result; the place of its text in the artifact makes it no longer.
_SMALLER = 0.5
_UNKNOWN = "0" * 64


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer's part: a text for each call it stands in for, empty for a pointer. artifact: where those texts are
    kept whole that could not be had again. saved: about how many tokens that frees."""

    kind: Literal["offload", "drop", "digest"]
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
    kinds: tuple[Literal["offload", "drop", "digest"], ...] = ("offload", "drop", "digest")
    layers = (_layer(kind, [one for one in chosen if one.kind == kind], keep) for kind in kinds)
    return tuple(layer for layer in layers if layer.texts)


@dataclass(frozen=True, slots=True)
class _Candidate:
    result: ToolResult
    kind: Literal["offload", "drop", "digest"]
    text: str

    @property
    def saved(self) -> int:
        return tokens(len(self.result.text) - len(self.text or pointer_text(self.result)))


def _candidates(events: Sequence[Event], recent: int, keeps: bool) -> list[_Candidate]:
    already, gone = stand_ins(events), superseded(events)
    found = []
    for result in old_results(in_request(events), recent):
        if result.call_id in already or is_skill(result):
            continue
        if line := gone.get(result.call_id):
            if len(line) < _SMALLER * len(result.text):
                found.append(_Candidate(result, "drop", line))
        elif short := _digest(result, keeps):
            found.append(_Candidate(result, "digest", short))
        elif is_movable(result):
            found.append(_Candidate(result, "offload", ""))
    return found


def _digest(result: ToolResult, keeps: bool) -> str:
    if result.name in KEPT_TOOLS or len(result.text) < MIN_CHARS or not (keeps or has_way_back(result)):
        return ""
    text = digest_of(result, _back(result, _UNKNOWN, 1))
    return text if len(text) < _SMALLER * len(result.text) else ""


def _layer(kind: Literal["offload", "drop", "digest"], chosen: list[_Candidate], keep: Keep | None) -> Layer:
    """The layer, with what could not be had again stored, in one artifact: its lines are where the digests say."""
    if kind != "digest":
        return Layer(kind, {one.result.call_id: one.text for one in chosen}, saved=sum(one.saved for one in chosen))
    places, line, stored = {}, 1, []
    for one in chosen:
        if not has_way_back(one.result):
            places[one.result.call_id] = line
            stored.append(one.result.text)
            line += one.result.text.count("\n") + 1
    artifact = keep("\n".join(stored).encode()) if keep is not None and stored else ""
    kept = [one for one in chosen if artifact or one.result.call_id not in places]
    texts = {
        one.result.call_id: digest_of(one.result, _back(one.result, artifact, places.get(one.result.call_id, 0)))
        for one in kept
    }
    return Layer(kind, texts, artifact, sum(one.saved for one in kept))


def _back(result: ToolResult, artifact: str, line: int) -> str:
    if has_way_back(result):
        return way_back(result)
    lines = result.text.count("\n") + 1
    return f"Read it with fs_read, path artifact:{artifact}, offset {line}, limit {lines}."
