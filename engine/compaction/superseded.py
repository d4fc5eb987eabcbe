"""Layer 2: results that a later one has made worthless give way to a line that says by what."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.compaction.visible import in_request, stand_ins
from engine.events import Event, ToolCall, ToolResult
from engine.tools.words import one_line

# Below this a line in its place would not be much shorter.
MIN_CHARS = 300
_CHANGED = "the file was changed after it was read; read it again if you need it"
_READ_AGAIN = "the same was read again later"
_RUN_AGAIN = "the same was run again later"


@dataclass(frozen=True, slots=True)
class _Done:
    """A call that came to something."""

    result: ToolResult
    call: ToolCall
    what: str


def superseded(events: Sequence[Event]) -> dict[str, str]:
    """Calls in the request whose results a later call has superseded: to the line that says by which. What failed is
    never among them: it keeps the model from trying it again. Nor is what something stands in for already."""
    already = stand_ins(events)
    found: dict[str, str] = {}
    later = _Later()
    for done in reversed(_done(in_request(events))):
        result = done.result
        may_go = result.status == "ok" and result.call_id not in already and len(result.text) >= MIN_CHARS
        if may_go and (by := later.why(done)):
            found[result.call_id] = f"[{result.name} {done.what}".rstrip() + f": left out, because {by}.]"
        later.add(done)
    return dict(reversed(found.items()))


def _done(events: Sequence[Event]) -> list[_Done]:
    calls: dict[str, ToolCall] = {}
    found: list[_Done] = []
    for event in events:
        if event.type == "assistant_message" and not event.aborted:
            calls.update((call.id, call) for call in event.calls)
        elif event.type == "tool_result" and event.call_id in calls:
            call = calls[event.call_id]
            words = (call.input.get(key) for key in ("path", "command", "pattern"))
            what = next((one_line(word, 80) for word in words if isinstance(word, str) and word), "")
            found.append(_Done(event, call, what))
    return found


@dataclass(slots=True)
class _Reads:
    """The lines of one file that later reads show: ranges of which none lies in another, by their first line."""

    firsts: list[int] = field(default_factory=list)
    lasts: list[int] = field(default_factory=list)
    whole: bool = False

    def covers(self, lines: tuple[int, int] | None) -> bool:
        """Whether one of them holds ``lines``; None for a read that names none."""
        if lines is None:
            return self.whole
        at = bisect_right(self.firsts, lines[0])
        return at > 0 and self.lasts[at - 1] >= lines[1]

    def add(self, lines: tuple[int, int] | None) -> None:
        if lines is None:
            self.whole = True
        elif not self.covers(lines):
            first, last = lines
            start = bisect_right(self.firsts, first - 1)
            end = bisect_right(self.lasts, last)
            self.firsts[start : max(start, end)] = [first]
            self.lasts[start : max(start, end)] = [last]


@dataclass(slots=True)
class _Later:
    """What came after a result, looked up by what could supersede it: one look for each, however many there are."""

    written: set[str] = field(default_factory=set)
    reads: dict[str, _Reads] = field(default_factory=dict)
    listed: dict[tuple[str, bool], int] = field(default_factory=dict)
    ran: set[str] = field(default_factory=set)
    todo: bool = False

    def add(self, done: _Done) -> None:
        result, name, given = done.result, done.call.name, done.call.input
        if result.status != "ok" and not (result.status == "error" and result.exit_code is not None):
            return
        path = given.get("path")
        # A read before the last change of the file shows nothing that an earlier one would give way to.
        if name == "fs_read" and result.status == "ok" and isinstance(path, str) and path not in self.written:
            self.reads.setdefault(path, _Reads()).add(_lines(result))
        elif name == "fs_list":
            self.listed[_folder(given)] = max(_depth(given), self.listed.get(_folder(given), 0))
        elif name == "todo_write":
            self.todo = True
        elif (key := _repeatable(done.call)) is not None:
            self.ran.add(key)
        self.written.update(result.files_written)

    def why(self, done: _Done) -> str:
        """Why what ``done`` says is said better by what came later; empty when it is not."""
        name, given = done.call.name, done.call.input
        path = given.get("path")
        if name == "fs_read" and isinstance(path, str):
            if path in self.reads and self.reads[path].covers(_lines(done.result)):
                return _READ_AGAIN
            return _CHANGED if path in self.written else ""
        if name == "fs_list":
            deep = _depth(given) <= self.listed.get(_folder(given), -1)
            return "the folder was listed again later" if deep else ""
        if name == "todo_write":
            return "the list was written again later" if self.todo else ""
        return _RUN_AGAIN if _repeatable(done.call) in self.ran else ""


def _repeatable(call: ToolCall) -> str | None:
    """The same for the same command or search; None for what is neither. Nor is a look at a background command: each
    look shows more."""
    if call.name not in ("shell_run", "fs_search") or call.input.get("handle") or call.input.get("background"):
        return None
    given = {key: value for key, value in call.input.items() if key != "timeout"}
    return f"{call.name} {json.dumps(given, sort_keys=True)}" if given else None


def _folder(given: dict[str, object]) -> tuple[str, bool]:
    return str(given.get("path", ".")), bool(given.get("all"))


def _depth(given: dict[str, object]) -> int:
    depth = given.get("depth", 1)
    return depth if isinstance(depth, int) else 1


def _lines(result: ToolResult) -> tuple[int, int] | None:
    """The first and the last line a read shows; None where it names none."""
    row = next((row for row in result.items if "first" in row and "last" in row), None)
    if row is None or not (isinstance(row["first"], int) and isinstance(row["last"], int)):
        return None
    return row["first"], row["last"]
