"""The plan mode: the agent only reads, and its run ends in a plan that a person approves, edits or rejects."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from engine import events as ev
from engine.prompt.modes import KIND, OVER, PLAN, PLANNING, READS
from engine.session import Session
from engine.state import TaskState
from engine.text import clean

APPROVED = "I approve this plan. Carry it out:\n\n{plan}"
REJECTED = "I reject this plan: {reason}"


def broker_mode(approve: str) -> str:
    """The gate's mode for an approve mode: while planning it lets nothing with effects through."""
    return "deny" if approve == PLAN else approve


def refused(call: ev.ToolCall, turn: int) -> ev.ToolResult:
    """The result of a call that may have effects while the agent plans."""
    name = clean(call.name)[:80]
    why = f"not while planning: {name} may change something"
    return ev.ToolResult(
        call_id=call.id,
        turn=turn,
        name=call.name,
        status="error",
        text=f"{why}. Nothing was done. You can call {', '.join(READS)}. Put what it would do into the plan instead.",
        summary="not while planning",
        error=why,
    )


def updates(state: TaskState, events: Sequence[ev.Event]) -> tuple[ev.RuntimeUpdate, ...]:
    """What the model has to hear about the mode: that planning begins or is over, where that is news."""
    said = next((e.text for e in reversed(events) if e.type == "runtime_update" and e.kind == KIND), OVER)
    wanted = PLANNING if state.approve == PLAN else OVER
    return () if said == wanted else (ev.RuntimeUpdate(kind=KIND, text=wanted),)


def propose(session: Session) -> None:
    """The final answer of a run in the plan mode becomes a plan to decide about."""
    if session.state.approve != PLAN:
        return
    answer = next((e for e in reversed(session.talk) if e.type == "assistant_message" and not e.aborted), None)
    text = "\n\n".join(b.text for b in answer.blocks if b.kind == "text" and b.text.strip()) if answer else ""
    if text:
        session.append(ev.PlanProposed(id=f"p-{uuid4().hex[:8]}", text=text))


def decide(session: Session, decided: ev.PlanDecided) -> str:
    """Store the decision; what the person says to the model by it, '' for nothing."""
    plan = session.state.plan
    if plan is None or plan.id != decided.id:
        text = "the plan was decided about already, or there is a newer one"
        session.append(ev.Notice(level="warn", text=text))
        return ""
    if decided.choice == "approve":
        text = clean(decided.text).strip() or plan.text
        session.append(decided.model_copy(update={"text": text if text != plan.text else "", "reason": ""}))
        return APPROVED.format(plan=text)
    reason = clean(decided.reason).strip()
    session.append(decided.model_copy(update={"text": "", "reason": reason}))
    return REJECTED.format(reason=reason or "make another one")
