"""The hands of the demo: for each event, the commands a person would send.

With ``answers`` it also decides the dialogs (``--auto``, tests, pictures); without, it leaves them to the person in
front of the screen and only plays the steering message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.commands import AnswerQuestion, Command, Decide, SendMessage

if TYPE_CHECKING:
    from engine.events import AnyEvent, ApprovalRequested, ToolResult

STEER = "Also accept a space between the thousands, as in 1 234.50."
DENIAL = "Not now: nothing leaves this machine today."


class AutoDriver:
    """Says what to send for each event of one demo session, each thing once."""

    def __init__(self, *, answers: bool = True) -> None:
        self._answers = answers
        self._steered = False
        self.finished = False

    def react(self, event: AnyEvent) -> tuple[Command, ...]:
        """The commands for ``event``, in order. Events may come again or be of any session; answers are bound to it."""
        if event.type == "approval_requested":
            return self._decide(event)
        if event.type == "question_asked" and self._answers:
            return (AnswerQuestion(event.session, event.id, event.options[0] if event.options else "yes"),)
        if event.type == "tool_result":
            return self._after_result(event)
        if event.type == "run_finished":
            self.finished = True
        return ()

    def _decide(self, event: ApprovalRequested) -> tuple[Command, ...]:
        if not self._answers:
            return ()
        if event.risk == "high":
            return (Decide(event.session, event.id, event.digest, "deny", reason=DENIAL),)
        return (Decide(event.session, event.id, event.digest, "once"),)

    def _after_result(self, event: ToolResult) -> tuple[Command, ...]:
        """Steer when the first edit is made."""
        if event.name != "fs_edit" or event.status != "ok" or self._steered:
            return ()
        self._steered = True
        return (SendMessage(event.session, STEER, "steer"),)
