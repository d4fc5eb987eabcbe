"""The view-model of a transcript: events in, blocks out. Pure but for its own list; the same events, the same blocks.

Live events draw the answer while it is written; the stored message then takes over their blocks, so nothing is shown
twice and nothing jumps. A replay without live events ends with equal blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast, overload

from engine import events as ev
from engine.events import AnyEvent
from tui.transcript import kinds, notes
from tui.transcript.calls import Calls, remember
from tui.transcript.kinds import (
    Block,
    Gone,
    Jump,
    Note,
    Question,
    Said,
    Thought,
    Tool,
    needs_gap,
    partial_title,
    title_of,
)
from tui.transcript.live import LivePart, LiveTurn
from tui.transcript.places import Places
from tui.transcript.shelf import Limits, Shelf

TAIL_KEPT = 2_000
"""Characters of a running call's output that are kept for its live tail."""
OWN = "you ran"
"""The name under which a person's own command is shown."""
_UNDER_WAY = ("writing", "pending", "asks", "running")


@dataclass(slots=True)
class Changes:
    """What a batch of events did: blocks from ``first`` on are new, those in ``updated`` are older and differ, those in
    ``marked`` are as long as they were but look different."""

    first: int
    updated: set[int] = field(default_factory=set)
    marked: list[range] = field(default_factory=list)


class Blocks(Sequence[Block]):
    """The blocks of one session so far. ``limits``: which of them are kept in memory."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._blocks = Shelf(limits)
        self._places = Places()
        self._changes = Changes(0)
        self._live: LiveTurn | None = None
        self._calls = Calls()
        self._own = ""
        self._requests: dict[str, ev.ApprovalRequested] = {}
        self._questions: dict[str, int] = {}
        self._last_who = ""
        self._retry = (-1, -1)
        self._left: dict[int, range] = {}

    def __len__(self) -> int:
        return len(self._blocks)

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        return self._blocks[index]

    def close(self) -> None:
        """They are no longer shown: what lies on disk is given up."""
        self._blocks.close()

    # --- what is asked of them -------------------------------------------------------------------------------------

    def gap_before(self, index: int) -> bool:
        """Whether a blank line comes before a block: depends on the one shown before it."""
        before = index - 1
        while before >= 0 and isinstance(self._blocks[before], Gone):
            before -= 1
        return before >= 0 and needs_gap(self._blocks[before], self._blocks[index])

    def is_left(self, index: int) -> bool:
        """Whether a person went back behind a block: it is no longer talked of."""
        return any(index in blocks for blocks in self._left.values())

    def block_of(self, seq: int) -> int:
        """The block an event went into: that of the newest shown event up to ``seq``. -1 when there is none."""
        return self._places.block_of(seq)

    def jumps(self, kind: Jump) -> Sequence[int]:
        """The blocks a jump of this kind lands on, in order."""
        return self._places.jumps(kind)

    # --- feeding ---------------------------------------------------------------------------------------------------

    def feed(self, events: Iterable[AnyEvent]) -> Changes:
        """Take in events, in order."""
        self._changes = changes = Changes(len(self._blocks))
        for event in events:
            take = _TAKE.get(event.type)
            if take is not None:
                take(self, event)
        self._show_live()
        return changes

    def _append(self, block: Block) -> int:
        index = len(self._blocks)
        self._blocks.append(block)
        self._places.note(index, block, block.seq)
        return index

    def _update(self, index: int, block: Block, seq: int = 0) -> None:
        self._blocks[index] = block
        if index < self._changes.first:
            self._changes.updated.add(index)
        self._places.note(index, block, seq)

    def _append_note(self, note: Note | None) -> None:
        if note is not None:
            self._append(note)

    # --- people and the model --------------------------------------------------------------------------------------

    def _user_message(self, event: ev.UserMessage) -> None:
        self._append(Said(event.seq, event.kind, event.text, event.at))
        self._last_who = "you"

    def _said_by_agent(self, part: LivePart | None, block: Said) -> None:
        """Finish the agent's words in the block that showed them live, or in a new one."""
        shown = self._blocks[part.block] if part else None
        self._put(part, replace(block, head=shown.head if isinstance(shown, Said) else self._last_who != "agent"))
        self._last_who = "agent"

    def _assistant_message(self, event: ev.AssistantMessage) -> None:
        if self._live and self._live.turn != event.turn:
            self._drop_live()
        live = self._live or LiveTurn(event.turn)
        note = notes.stop_note(event)
        texts = [b for b in event.blocks if isinstance(b, ev.TextBlock) and b.text.strip()]
        for block in event.blocks:
            if isinstance(block, ev.ToolCall):
                self._call_written(live.claim("tool_call", block.id), block, event)
            elif isinstance(block, ev.ThinkingBlock):
                if block.text.strip():
                    thought = Thought(event.seq, block.text, len(block.text.split()))
                    self._put(live.claim("thinking"), thought)
            elif block.text.strip():
                last = block is texts[-1]
                said = Said(event.seq, "agent", block.text, event.at, note=note if last else "")
                self._said_by_agent(live.claim("text"), said)
        if note and not texts:
            self._append(Note(event.seq, "notice", "warn", "agent", note))
        self._drop_live()

    def _put(self, part: LivePart | None, block: Block) -> int:
        if part is None:
            return self._append(block)
        self._update(part.block, block, block.seq)
        return part.block

    def _call_written(self, part: LivePart | None, call: ev.ToolCall, event: ev.AssistantMessage) -> None:
        title = title_of(call.input) or partial_title(call.bad_input)
        command = line if isinstance(line := call.input.get("command"), str) else ""
        index = self._put(part, Tool(event.seq, call.id, event.turn, call.name, title, command=command))
        self._calls.put(event.turn, call.id, index)

    # --- the answer being written ----------------------------------------------------------------------------------

    def _stream_delta(self, event: ev.StreamDelta) -> None:
        if self._live is None or self._live.turn != event.turn:
            self._drop_live()
            self._live = LiveTurn(event.turn)
        _part, fresh = self._live.take(event, len(self._blocks))
        if fresh:
            # What it is is filled in at the end of the batch.
            self._append(Gone())

    def _show_live(self) -> None:
        for part in self._live.parts.values() if self._live else ():
            shown = self._blocks[part.block]
            if part.pieces or (part.name and isinstance(shown, Gone)):
                part.flush()
                self._update(part.block, self._live_block(part, shown))

    def _live_block(self, part: LivePart, shown: Block) -> Block:
        turn = self._live.turn if self._live else 0
        if part.kind == "tool_call":
            title = shown.title if isinstance(shown, Tool) and shown.title else partial_title(part.text)
            return Tool(0, part.call_id, turn, part.name, title, "writing", size=len(part.text))
        if not part.text.strip():
            return Gone()
        if part.kind == "thinking":
            return Thought(0, part.text, part.words, open=True)
        head = shown.head if isinstance(shown, Said) else self._last_who != "agent"
        self._last_who = "agent"
        return Said(0, "agent", part.text, head=head, open=True)

    def _drop_live(self, _event: object = None) -> None:
        """Make void what is shown of an answer that no stored message has taken over."""
        for part in self._live.parts.values() if self._live else ():
            shown = self._blocks[part.block]
            if isinstance(shown, Said) and shown.head:
                self._last_who = ""
            self._update(part.block, Gone())
        self._live = None

    # --- tool calls ------------------------------------------------------------------------------------------------

    def _tool(self, call_id: str, turn: int | None = None) -> tuple[int, Tool | None]:
        index = self._calls.find(call_id, turn)
        block = self._blocks[index] if index >= 0 else None
        return index, block if isinstance(block, Tool) else None

    def _tool_started(self, event: ev.ToolStarted) -> None:
        index, tool = self._tool(event.call_id, event.turn)
        if tool is None:
            tool = Tool(event.seq, event.call_id, event.turn, event.name, event.title, "running")
            self._calls.put(event.turn, event.call_id, self._append(tool))
        else:
            self._calls.begin(event.turn, event.call_id)
            self._update(index, replace(tool, title=event.title or tool.title, state="running"), event.seq)

    def _tool_progress(self, event: ev.ToolProgress) -> None:
        index, tool = self._tool(event.call_id)
        if tool is None and event.title:
            # A person's own command: no stored event says that it began.
            self._own = event.call_id
            own = Tool(0, event.call_id, 0, OWN, event.title, "running", command=event.title)
            self._calls.name(event.call_id, self._append(own))
        elif tool is not None and tool.state in _UNDER_WAY:
            self._update(index, replace(tool, tail=(tool.tail + event.text)[-TAIL_KEPT:]))

    def _person_ran(self, event: ev.PersonRan) -> None:
        index, shown = self._tool(self._own)
        self._own = ""
        done = Tool(
            seq=event.seq,
            call_id=shown.call_id if shown else "",
            turn=0,
            name=OWN,
            title=" ".join(event.command.split()),
            state=event.status,
            summary=f"exit code {event.exit_code}" if event.exit_code else "",
            seconds=event.seconds,
            text=event.text,
            digest=event.artifact if event.truncated else "",
            command=event.command,
        )
        if shown is None:
            self._append(done)
        else:
            self._update(index, done, event.seq)

    def _tool_result(self, event: ev.ToolResult) -> None:
        index, tool = self._tool(event.call_id, event.turn)
        done = Tool(
            seq=tool.seq if tool else event.seq,
            call_id=event.call_id,
            turn=event.turn,
            name=event.name or (tool.name if tool else ""),
            title=tool.title if tool else "",
            state=event.status,
            summary=event.summary,
            seconds=event.seconds,
            text=event.text or event.error,
            diff=event.diff,
            digest=event.artifact if event.truncated else "",
            picture=kinds.picture_of(event),
            decision=tool.decision if tool else "",
            command=tool.command if tool else "",
        )
        if tool is None:
            self._append(done)
        else:
            self._update(index, done, event.seq)
        self._calls.end(event.turn, event.call_id)

    def _end_calls(self, summary: str) -> None:
        """Calls whose result never came: the run they belonged to is over."""
        for index in self._calls.end_run():
            block = self._blocks[index]
            if isinstance(block, Tool) and block.state in _UNDER_WAY:
                self._update(index, replace(block, state="cancelled", summary=summary, tail=""))

    # --- approvals, questions, the run -----------------------------------------------------------------------------

    def _approval_requested(self, event: ev.ApprovalRequested) -> None:
        remember(self._requests, event.id, event)
        index, tool = self._tool(event.call_id)
        if tool is not None and tool.state in _UNDER_WAY:
            self._update(index, replace(tool, state="asks"), event.seq)

    def _approval_decided(self, event: ev.ApprovalDecided) -> None:
        request = self._requests.pop(event.id, None)
        index, tool = self._tool(request.call_id if request else "")
        if tool is None:
            self._append(notes.approval(event, request))
            return
        asked = tool.state == "asks"
        state = tool.state if not asked else "denied" if event.choice == "deny" else "running"
        self._update(index, replace(tool, state=state, decision=notes.decision(event)), event.seq)

    def _question_asked(self, event: ev.QuestionAsked) -> None:
        index = self._append(Question(event.seq, event.question, event.options, at=event.at))
        remember(self._questions, event.id, index)
        self._last_who = ""

    def _question_answered(self, event: ev.QuestionAnswered) -> None:
        index = self._questions.pop(event.id, -1)
        if index < 0:
            self._append(Question(event.seq, "", answer=event.text, by=event.by, at=event.at))
        else:
            asked = cast(Question, self._blocks[index])
            self._update(index, replace(asked, answer=event.text, by=event.by), event.seq)

    def _run_started(self, event: ev.RunStarted) -> None:
        self._end_calls("interrupted")
        self._append_note(notes.run_started(event))

    def _run_finished(self, event: ev.RunFinished) -> None:
        self._drop_live()
        self._end_calls("interrupted")
        self._append(notes.run_finished(event))
        self._last_who = ""

    def _rewound(self, event: ev.Rewound) -> None:
        note = self._append(notes.rewound(event))
        left = range(0)
        if event.undoes:
            left = self._left.pop(event.undoes, left)
        elif event.conversation and (first := self._places.first_since(event.to)) >= 0:
            left = self._left[event.seq] = range(first, note)
        self._changes.marked.append(left)

    def _model_retry(self, event: ev.ModelRetry) -> None:
        self._drop_live()
        turn, index = self._retry
        if turn == event.turn and index == len(self._blocks) - 1:
            self._update(index, notes.model_retry(event), event.seq)
        else:
            self._retry = (event.turn, self._append(notes.model_retry(event)))

    def _model_failed(self, event: ev.ModelFailed) -> None:
        self._drop_live()
        self._append(notes.model_failed(event))


def _noted(make: Callable[[Any], Note | None]) -> Callable[[Blocks, Any], None]:
    return lambda blocks, event: blocks._append_note(make(event))


_TAKE: dict[str, Callable[[Blocks, Any], None]] = {
    "user_message": Blocks._user_message,
    "assistant_message": Blocks._assistant_message,
    "stream_delta": Blocks._stream_delta,
    "stream_dropped": Blocks._drop_live,
    "tool_started": Blocks._tool_started,
    "tool_progress": Blocks._tool_progress,
    "tool_result": Blocks._tool_result,
    "approval_requested": Blocks._approval_requested,
    "approval_decided": Blocks._approval_decided,
    "question_asked": Blocks._question_asked,
    "question_answered": Blocks._question_answered,
    "run_started": Blocks._run_started,
    "run_finished": Blocks._run_finished,
    "model_retry": Blocks._model_retry,
    "model_failed": Blocks._model_failed,
    "notice": _noted(notes.notice),
    "compacted": _noted(notes.compacted),
    "compaction_undone": _noted(notes.compaction_undone),
    "handed_off": _noted(notes.handed_off),
    "memory_changed": _noted(notes.memory_changed),
    "stage_changed": _noted(notes.stage_changed),
    "paused": _noted(notes.paused),
    "resumed": _noted(notes.resumed),
    "queue_arranged": _noted(notes.queue_arranged),
    "person_ran": Blocks._person_ran,
    "plan_proposed": _noted(notes.plan_proposed),
    "plan_decided": _noted(notes.plan_decided),
    "rewound": Blocks._rewound,
    "engine_failed": _noted(notes.engine_failed),
    "prompt_rendered": _noted(notes.prompt_rendered),
    "session_started": _noted(notes.session_started),
    "setting_changed": _noted(notes.setting_changed),
    "todo_changed": _noted(notes.todo_changed),
}
