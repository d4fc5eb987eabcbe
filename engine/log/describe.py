"""An event in one line, for lists in plain text."""

from __future__ import annotations

from engine.events import AssistantMessage, Event

_WIDE = 500


def describe(event: Event) -> tuple[str, str]:
    """A word for what kind of event it is and one line of what it says; not yet fit for a terminal."""
    kind, text = _described(event)
    line = " ".join(text.split())
    return kind, line if len(line) <= _WIDE else line[: _WIDE - 1] + "…"


def _described(event: Event) -> tuple[str, str]:
    match event.type:
        case "session_started":
            fork = f", forked from {event.parent} at {event.parent_seq}" if event.parent else ""
            return "session", f"{event.model} in {event.cwd}{fork}"
        case "prompt_rendered":
            return "prompt", event.reason or f"rendered, {len(event.tools)} tools"
        case "run_started":
            return "run", "goes on" if event.resumed else "begins"
        case "run_finished":
            return "run", f"ends: {event.reason} {event.detail}"
        case "message_queued":
            return "queued", event.text
        case "message_withdrawn":
            return "queued", f"{event.reason or 'taken back'} ({event.id})"
        case "user_message":
            return "you", event.text
        case "runtime_update":
            return "runtime", event.text
        case "turn_started":
            return "turn", f"{event.turn}, {event.model}"
        case "model_retry":
            return "retry", f"number {event.attempt} in {event.wait:.1f} s: {event.error}"
        case "assistant_message":
            return "agent", _said(event)
        case "model_failed":
            return "failed", f"{event.error} {event.suggestion}"
        case "tool_started":
            return "call", f"{event.name} {event.title}"
        case "tool_result":
            return "result", f"{event.name} {event.status}: {event.summary or event.error or event.text[:_WIDE]}"
        case "approval_requested":
            return "approval", f"asked ({event.risk}): {event.subject}"
        case "approval_decided":
            return "approval", f"{event.choice} by {event.by} {event.reason}"
        case "question_asked":
            return "question", event.question
        case "question_answered":
            return "question", f"answered: {event.text}"
        case "todo_changed":
            done = sum(item.status == "done" for item in event.items)
            return "todo", f"{done} of {len(event.items)} done, by {event.by}"
        case "setting_changed":
            return "setting", f"{event.name} = {event.value}"
        case "compacted":
            return (
                "compacted",
                f"{event.kind}: {event.tokens_before:,} to {event.tokens_after:,} tokens, {event.reason}",
            )
        case "compaction_undone":
            return "undone", f"compaction {event.number} was taken back"
        case "handed_off":
            return "handed off", f"to {event.to}: {event.reason}"
        case "memory_changed":
            return "memory", f"{event.action} for this {event.scope}, by {event.by}: {event.text or event.before}"
        case "stage_changed":
            return "stage", f"{event.stage or 'all done'} {event.reason}"
        case "paused":
            return "paused", "before the next turn"
        case "resumed":
            return "resumed", f"for {event.turns} turns" if event.turns else "goes on"
        case "queue_arranged":
            return "queued", "; ".join(item.text for item in event.items)
        case "person_ran":
            return "you ran", f"{event.command}: {event.status}"
        case "plan_proposed":
            return "plan", event.text
        case "plan_decided":
            return "plan", f"{event.choice} {event.reason}"
        case "files_kept":
            return "kept", f"files before turn {event.turn}"
        case "rewound":
            return "rewound", f"to before event {event.to}" if not event.undoes else "taken back"
        case "notice":
            return "notice", f"{event.text} {event.hint}"


def _said(event: AssistantMessage) -> str:
    """The words of an answer, and the calls it makes."""
    words = " ".join(block.text for block in event.blocks if block.kind == "text")
    calls = ", ".join(call.name for call in event.calls)
    ending = "(aborted)" if event.aborted else event.error
    return " ".join(part for part in (words, f"→ {calls}" if calls else "", ending) if part)
