"""Events that become one line each, in a person's words."""

from __future__ import annotations

from engine import events as ev
from tui.format import approve_mode, count, duration, plural
from tui.transcript.kinds import Level, Note

_ENDS: dict[str, tuple[str, Level]] = {
    "finished": ("finished", "ok"),
    "limit": ("stopped at a limit", "warn"),
    "interrupted": ("interrupted", "warn"),
    "denied": ("ended: something was denied", "warn"),
    "failed": ("failed", "danger"),
    "no_model": ("no model can be used", "danger"),
    "handed_off": ("went on in a fresh session", "info"),
}
_CHOICES: dict[str, str] = {
    "once": "allowed once",
    "session": "allowed for this session",
    "rule": "allowed from now on",
    "edit": "edited, then allowed",
    "deny": "denied",
}
_COMPACTIONS = {
    "offload": "put {} aside",
    "drop": "dropped {} that had been superseded",
    "digest": "shortened {} to what mattered",
    "summary": "compacted",
    "handoff": "goes on for another session",
}
_MEMORY = {"saved": "remembered", "edited": "memory changed", "removed": "forgotten"}
_STOPS = {"length": "(cut off at the length limit)", "refusal": "(the model refused)", "error": "(ended by an error)"}
_BY = {"person": "you", "timeout": "no answer in time", "interrupt": "interrupted", "close": "closed unanswered"}


def run_finished(event: ev.RunFinished) -> Note:
    label, level = _ENDS.get(event.reason, (event.reason, "warn"))
    return Note(event.seq, "finished", level, label, event.detail.replace("by the person", "by you"))


def model_retry(event: ev.ModelRetry) -> Note:
    right = f"in {duration(event.wait)}"
    return Note(event.seq, "retry", "warn", f"try {event.attempt + 1}", event.error, right)


def model_failed(event: ev.ModelFailed) -> Note:
    return Note(event.seq, "error", "danger", "model failed", event.error, detail=event.suggestion)


def engine_failed(event: ev.EngineFailed) -> Note:
    return Note(0, "error", "danger", "engine failed", event.error)


def notice(event: ev.Notice) -> Note:
    return Note(event.seq, "notice", event.level, "", event.text, detail=event.hint)


def approval(event: ev.ApprovalDecided, request: ev.ApprovalRequested | None) -> Note:
    """A decision whose call is not shown."""
    subject = f"{request.tool} {request.subject}".strip() if request else ""
    level: Level = "warn" if event.choice == "deny" else "ok"
    label = _CHOICES.get(event.choice, event.choice)
    return Note(event.seq, "approval", level, label, subject, _BY.get(event.by, event.by), detail=_detail(event))


def decision(event: ev.ApprovalDecided) -> str:
    """A decision as a line below its call."""
    label = _CHOICES.get(event.choice, event.choice)
    said = f"{label} by you" if event.by == "person" else f"{label}: {_BY.get(event.by, event.by)}"
    return f"{said}: {detail}" if (detail := _detail(event)) else said


def _detail(event: ev.ApprovalDecided) -> str:
    return {"rule": event.rule, "edit": event.command}.get(event.choice, event.reason)


def compacted(event: ev.Compacted) -> Note:
    sizes = f"{count(event.tokens_before)} to {count(event.tokens_after)} tokens"
    moved = plural(len(event.offloaded) or len(event.texts), "result")
    label = _COMPACTIONS[event.kind].format(moved)
    folded = "\n\n".join(part for part in (event.ledger, event.summary) if part)
    return Note(event.seq, "compaction", "info", label, event.reason, sizes, folded=folded)


def compaction_undone(event: ev.CompactionUndone) -> Note:
    return Note(event.seq, "compaction", "info", "undone", f"compaction {event.number} was taken back")


def handed_off(event: ev.HandedOff) -> Note:
    return Note(event.seq, "compaction", "warn", "handed off", event.reason, f"to session {event.to}")


def memory_changed(event: ev.MemoryChanged) -> Note:
    whose = "for this project" if event.scope == "project" else "for you, everywhere"
    text = event.text or event.before
    return Note(event.seq, "notice", "info", _MEMORY[event.action], text, whose, detail=_was(event))


def _was(event: ev.MemoryChanged) -> str:
    return f"it was: {event.before}" if event.text and event.before else ""


def stage_changed(event: ev.StageChanged) -> Note:
    return Note(event.seq, "notice", "info", "stage", event.stage or "all stages are done", event.reason)


def paused(event: ev.Paused) -> Note:
    return Note(event.seq, "notice", "warn", "paused", "no turn begins until you go on")


def resumed(event: ev.Resumed) -> Note:
    text = f"for {plural(event.turns, 'turn')}, then paused again" if event.turns else "without a pause"
    return Note(event.seq, "notice", "info", "goes on", text)


def queue_arranged(event: ev.QueueArranged) -> Note:
    return Note(event.seq, "notice", "info", "arranged", f"{plural(len(event.items), 'message')} waiting")


def plan_proposed(event: ev.PlanProposed) -> Note:
    return Note(event.seq, "notice", "warn", "plan", "waits for you: approve it, or reject it and say why")


def plan_decided(event: ev.PlanDecided) -> Note:
    if event.choice == "reject":
        return Note(event.seq, "notice", "warn", "plan", "rejected", detail=event.reason)
    return Note(event.seq, "notice", "ok", "plan", "approved as edited" if event.text else "approved")


def rewound(event: ev.Rewound) -> Note:
    files = plural(len(event.files), "file") if event.files else ""
    what = " and ".join(part for part in ("the conversation" if event.conversation else "", files) if part)
    detail = "" if event.undoes or not event.conversation else "what was said in between is no longer sent"
    label = "undone" if event.undoes else "went back"
    text = f"going back was taken back: {what}" if event.undoes else f"to before event {event.to}: {what or 'nothing'}"
    return Note(event.seq, "notice", "warn", label, text, detail=detail, folded="\n".join(event.files))


def prompt_rendered(event: ev.PromptRendered) -> Note | None:
    """Only a prompt rendered again is worth a line: the cache starts anew."""
    if not event.reason:
        return None
    return Note(event.seq, "notice", "warn", "", f"the prompt was rendered again: {event.reason}")


def session_started(event: ev.SessionStarted) -> Note | None:
    """Only a fork is worth a line."""
    if not event.parent:
        return None
    return Note(event.seq, "notice", "info", "forked", f"from {event.parent} after event {event.parent_seq}")


def run_started(event: ev.RunStarted) -> Note | None:
    return Note(event.seq, "notice", "info", "resumed", "work goes on where it stopped") if event.resumed else None


def todo_changed(event: ev.TodoChanged) -> Note | None:
    """What the model changes is a tool call already."""
    return Note(event.seq, "notice", "info", "", "you edited todo.md") if event.by == "person" else None


def setting_changed(event: ev.SettingChanged) -> Note:
    value = event.value if isinstance(event.value, str) else _pairs(event.value)
    return Note(event.seq, "notice", "info", event.name, approve_mode(value) if event.name == "approve" else value)


def _pairs(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {what}" for key, what in value.items() if what is not None)
    return str(value)


def stop_note(event: ev.AssistantMessage) -> str:
    """Why an answer ended before its end; empty when it did not."""
    if event.aborted:
        return "(aborted)"
    note = _STOPS.get(event.stop, "")
    return f"{note} {event.error}".strip() if note else ""
