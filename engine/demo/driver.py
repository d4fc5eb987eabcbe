"""The hands of the demo: for each event, the commands a person would send.

With ``answers`` it also decides the dialogs (``--auto``, tests, pictures); without, it leaves them to the person in
front of the screen and only plays the steering message and the compaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.commands import AnswerQuestion, Command, Compact, Decide, SendMessage

if TYPE_CHECKING:
    from engine.events import AnyEvent, ApprovalRequested

STEER = "Also accept a space between the thousands, as in 1 234.50."
PUSH = "git push"
DENIAL = "Not now: nothing leaves this machine today."


class AutoDriver:
    """Says what to send for each event of one demo session, each thing once."""

    def __init__(self, *, answers: bool = True) -> None:
        self._answers = answers
        self._steered = False
        self._compacted = False
        self._pushes: set[str] = set()
        self.finished = False

    def react(self, event: AnyEvent) -> tuple[Command, ...]:
        """The commands for ``event``, in order: answers to dialogs; the steering message while the first edit runs or
        waits; the compaction when the push has been decided."""
        if event.type == "approval_requested":
            return self._decide(event)
        if event.type == "question_asked" and self._answers:
            return (AnswerQuestion(event.session, event.id, event.options[0] if event.options else "yes"),)
        if event.type == "assistant_message":
            self._pushes |= {c.id for c in event.calls if PUSH in str(c.input.get("command", ""))}
        if event.type == "tool_started" and event.name == "fs_edit" and not self._steered:
            self._steered = True
            return (SendMessage(event.session, STEER, "steer"),)
        if event.type == "tool_result" and event.call_id in self._pushes and not self._compacted:
            self._compacted = True
            return (Compact(event.session),)
        if event.type == "run_finished":
            self.finished = True
        return ()

    def _decide(self, event: ApprovalRequested) -> tuple[Command, ...]:
        if not self._answers:
            return ()
        if event.risk == "high":
            return (Decide(event.session, event.id, event.digest, "deny", reason=DENIAL),)
        return (Decide(event.session, event.id, event.digest, "once"),)
