"""From what the sandbox says to what the model reads: refusals, failures, and what to do next."""

from __future__ import annotations

from engine.tools.base import ToolOutcome
from sandbox.operations import Outcome, Status


def failed(
    error: str, suggestion: str = "", *, summary: str = "", retryable: bool = False, seconds: float = 0.0
) -> ToolOutcome:
    """Something expected went wrong: the model reads the error and the suggestion, a person the summary."""
    return ToolOutcome(
        status="error",
        output=f"{error}\n{suggestion}".rstrip(),
        summary=summary or error.split("\n", 1)[0],
        error=error,
        suggestion=suggestion,
        retryable=retryable,
        seconds=seconds,
    )


def denied(outcome: Outcome) -> ToolOutcome:
    """Nothing ran. With a person's words, when they gave any, as what counts now."""
    why = outcome.error or "A person did not allow it."
    if outcome.feedback:
        advice = "Do what they said instead. Do not try to get the same effect in another way."
        text = f"Denied: nothing was done. The person said:\n{outcome.feedback}\n\n{advice}"
    else:
        advice = outcome.suggestion or (
            "Do not repeat this call and do not try the same effect in another way. "
            "Go on with what does not need it, or ask with user_ask what to do instead."
        )
        text = f"Denied: nothing was done. {why}\n{advice}"
    summary = f"denied: {outcome.feedback}" if outcome.feedback else "denied"
    return ToolOutcome(status="denied", output=text, summary=summary, error=why, suggestion=advice)


def trouble(outcome: Outcome) -> ToolOutcome | None:
    """The outcome of an operation that did not do what was asked, or None when it did."""
    if outcome.status is Status.OK:
        return None
    if outcome.status is Status.DENIED:
        return denied(outcome)
    if outcome.status is Status.CANCELLED:
        return cancelled(outcome.seconds)
    error = outcome.error or "The sandbox could not do this and gave no reason."
    if outcome.status is Status.TIMED_OUT:
        error = outcome.error or "It took too long and was ended."
    return failed(error, outcome.suggestion, retryable=outcome.status is Status.TIMED_OUT, seconds=outcome.seconds)


def cancelled(seconds: float = 0.0) -> ToolOutcome:
    """Interrupted while it ran."""
    text = "Interrupted while it was running. It may have had side effects: check what was done before you do it again."
    return ToolOutcome(status="cancelled", output=text, summary="interrupted", error="interrupted", seconds=seconds)
