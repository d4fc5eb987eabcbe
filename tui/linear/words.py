"""Events as plain lines in the order in which they happen: nothing is painted over, meaning is always in words."""

from __future__ import annotations

from threading import Lock

from engine import events as ev
from engine.text import visible
from tui.dialogs.exact import Ink, concerns, exact_spans
from tui.format import approve_mode, cost, count, duration, plural
from tui.transcript import notes
from tui.transcript.kinds import Tool
from tui.transcript.shelf import Shelf

SHOWN_LINES = 12
ANSWERS = "Answer with one word and Enter: y (once), s (this session), n (deny), or: d REASON (deny and say why)."
_STATES = {"ok": "done", "error": "FAILED", "denied": "DENIED", "cancelled": "CANCELLED", "skipped": "not run"}
_NOTED = {
    "run_finished": notes.run_finished,
    "model_retry": notes.model_retry,
    "model_failed": notes.model_failed,
    "engine_failed": notes.engine_failed,
    "notice": notes.notice,
    "compacted": notes.compacted,
    "compaction_undone": notes.compaction_undone,
    "handed_off": notes.handed_off,
    "memory_changed": notes.memory_changed,
    "stage_changed": notes.stage_changed,
    "setting_changed": notes.setting_changed,
}


class Narrator:
    """Puts events into lines. It numbers results, so that a person can ask for one in full."""

    def __init__(self, ascii: bool = False) -> None:
        self._ink = Ink(ascii=ascii)
        self._titles: dict[str, str] = {}
        self.results = Shelf()
        # One thread tells what happens, another reads what a person asks for.
        self._lock = Lock()

    def tell(self, event: ev.AnyEvent) -> list[str]:
        """The lines an event is worth, fit for any terminal; most live events are worth none."""
        match event.type:
            case "user_message":
                return [f"You: {visible(event.text)}"]
            case "message_queued":
                return [f"Waiting to be delivered ({event.kind.replace('_', ' ')}): {visible(event.text)}"]
            case "message_withdrawn":
                if event.reason:
                    return [visible(f"A message was not delivered: {event.reason}")]
                return ["The newest waiting message was taken back."]
            case "assistant_message":
                return self._said(event)
            case "tool_started":
                self._titles[event.call_id] = event.title
                return [visible(f"Running {event.name} {event.title}".rstrip())]
            case "tool_result":
                return self._result(event)
            case "approval_requested":
                return self._asked(event)
            case "approval_decided":
                return [visible(f"Approval: {notes.decision(event)}")]
            case "question_asked":
                options = [f"  {number}. {visible(text)}" for number, text in enumerate(event.options, 1)]
                return [f"QUESTION from the agent: {visible(event.question)}", *options, "Type your answer and Enter."]
            case "plan_proposed":
                return ["PLAN: the answer above waits for you. y approves it, d and a reason rejects it."]
            case "todo_changed":
                done = sum(item.status == "done" for item in event.items)
                return [f"Todo: {done} of {len(event.items)} done. /todo reads it."]
            case "log_health":
                return [] if event.saving else [f"WARNING: nothing is being saved: {visible(event.error)}"]
            case "open_failed":
                return [f"The session could not be opened: {visible(event.error)}"]
        return self._noted(event)

    def full(self, number: int) -> list[str]:
        """All of result ``number``, counted from 1."""
        if not 1 <= number <= len(self.results):
            return [f"There is no result {number}; the newest is {len(self.results)}."]
        with self._lock:
            result = self.results[number - 1]
        if not isinstance(result, Tool):
            return [f"Result {number} can no longer be read from the temporary file."]
        return [f"Result {number}, {result.name}:", *visible(result.diff or result.text).splitlines(), "End of result."]

    def _said(self, event: ev.AssistantMessage) -> list[str]:
        text = "\n\n".join(b.text.strip() for b in event.blocks if b.kind == "text" and b.text.strip())
        ending = notes.stop_note(event)
        lines = [f"Agent: {visible(text)}"] if text else []
        return [*lines, f"Agent: {visible(ending)}"] if ending else lines

    def _result(self, event: ev.ToolResult) -> list[str]:
        with self._lock:
            self.results.append(Tool(event.seq, event.call_id, 0, event.name, text=event.text, diff=event.diff))
            number = len(self.results)
        title = self._titles.pop(event.call_id, "")
        head = f"{event.name} {title}".rstrip()
        what = "; ".join(dict.fromkeys(part for part in (event.summary, event.error, event.suggestion) if part))
        took = f" in {duration(event.seconds)}" if event.seconds else ""
        lines = [f"{_STATES[event.status]}: {head}{took}{': ' + what if what else ''}"]
        shown = self._worth_reading(event).strip().splitlines()
        lines += [f"  {line}" for line in shown[:SHOWN_LINES]]
        if len(shown) > SHOWN_LINES:
            rest = plural(len(shown) - SHOWN_LINES, "more line")
            given = " of what the agent was given; the output was longer" if event.truncated else ""
            lines.append(f"  and {rest}{given}: /show {number} reads all of it")
        return [visible(line) for line in lines]

    def _worth_reading(self, event: ev.ToolResult) -> str:
        """What is read out at once: what a command said, and a change that was made."""
        if event.diff:
            return event.diff if event.status == "ok" else ""
        return event.text if event.name == "shell_run" else ""

    def _asked(self, event: ev.ApprovalRequested) -> list[str]:
        subject = [
            "  " + "".join(text for text, _ in exact_spans(line, self._ink)) for line in event.subject.split("\n")
        ]
        diff = event.diff.splitlines()
        return [
            f"APPROVAL NEEDED, {event.risk} risk: {visible(event.tool or event.kind)} in {visible(event.cwd)}",
            *subject,
            *(f"  would: {visible(effect)}" for effect in event.effects),
            *(f"  risk: {visible(reason)}" for reason in event.reasons),
            *(f"  careful: {visible(words)}" for words in concerns(event.subject)),
            *(f"  {visible(line)}" for line in diff),
            f"{ANSWERS} No answer within {duration(event.expires_in)} means deny.",
        ]

    def _noted(self, event: ev.AnyEvent) -> list[str]:
        make = _NOTED.get(event.type)
        if make is None:
            return []
        note = make(event)  # type: ignore[operator]
        parts = (note.label, note.text, note.right)
        line = ": ".join(visible(part) for part in parts if part)
        level = {"danger": "ERROR: ", "warn": "Warning: "}.get(note.level, "")
        return [f"{level}{line}", *([f"  {visible(note.detail)}"] if note.detail else [])]


def status(state: object) -> str:
    """Where the task stands, in a line."""
    from engine.state import TaskState

    if not isinstance(state, TaskState):
        return "No session is open yet."
    facts = (
        f"{state.stage}{' ' + state.stage_detail if state.stage_detail else ''}",
        f"turn {state.turn}",
        f"model {state.model}",
        f"approvals: {approve_mode(state.approve)}",
        f"cost {cost(state.cost, state.unpriced)}",
        f"context {count(state.context_tokens)} of {count(state.context_window)} tokens",
        f"todo {state.todo_done} of {len(state.todo)} done",
        f"{plural(len(state.waiting), 'request')} waiting for you",
    )
    return visible("; ".join(facts))
