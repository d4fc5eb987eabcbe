"""Actions of the workbench on a run under way: how it stops, what waits to be said, pauses, its plan, and a command of
one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.commands import DecidePlan, GoOn, Interrupt, Pause, RunCommand
from tui import slots

if TYPE_CHECKING:
    from textual.screen import Screen

    from engine.hands import Plan
    from engine.state import OpenCall
    from tui.app import WorkbenchApp
    from tui.arranging import Arranging

    Base = Screen[None]
else:
    Base = object


class MidrunActions(Base):
    """Mixed into the workbench screen, which provides ``bench``, ``composer`` and ``arranging``."""

    bench: WorkbenchApp
    arranging: Arranging
    composer: Any
    _own_runs: bool

    def action_queue(self) -> None:
        """What waits to be said, to edit, order and take back."""
        link = self.bench.link
        self.app.push_screen(slots.queue(self.arranging, lambda: link.state, self.give_back))

    def give_back(self, text: str) -> None:
        """A text a person wrote comes before what they have written meanwhile."""
        written = getattr(self.composer, "text", "")
        self.composer.set_text(f"{text}\n{written}" if written.strip() else text)

    def _give_back_what_came_too_late(self, events: list[Any]) -> None:
        for text in self.arranging.too_late(events):
            self.give_back(text)
            self.bench.say("It had gone out before your change of it; what you wrote is in the composer.", warn=True)

    def action_interrupt(self) -> None:
        """Stop what runs, a command of one's own first. A person is asked what is to become of a call that may be
        changing something; when nothing runs, Esc leads back to the composer."""
        state = self.bench.link.state
        if state and state.in_effect and not self._own_runs:
            session = self.bench.link.session
            dialog = slots.stop(self._in_effect, len(self.arranging.items))
            self.app.push_screen(dialog, lambda answer: self._stop(session, answer))
        elif (state and state.running) or self._own_runs:
            self.bench.link.send(Interrupt)
        else:
            self.composer.focus()

    def _in_effect(self) -> tuple[OpenCall, ...]:
        state = self.bench.link.state
        return state.in_effect if state else ()

    def _stop(self, session: str, answer: str | None) -> None:
        """Do what was chosen, to the session it was asked about. What ended before anything was chosen is no reason to
        go on: the person came to stop."""
        state = self.bench.link.state
        another = bool(state and state.in_effect)
        if answer == "now":
            self.bench.link.send(lambda _: Interrupt(session))
        elif answer == "after":
            self.bench.link.send(lambda _: Interrupt(session, after_calls=True))
            self.bench.say("It stops when what runs has ended.")
        elif answer == "ended" and state and state.running:
            self.bench.link.send(lambda _: Interrupt(session, after_calls=another))
            last = " after the one that runs now" if another else ""
            self.bench.say(f"That call ended by itself meanwhile; the agent is stopped{last}.")
        elif answer == "ended":
            self.bench.say("That call ended by itself meanwhile, and the run with it.")

    def action_pause(self) -> None:
        """Pause before the next turn, or, when that is so already, go on."""
        state = self.bench.link.state
        if state and state.paused:
            self.action_go_on()
        else:
            self.bench.link.send(Pause)
            self.bench.say("Pauses before the next turn; what runs goes on to its end.")

    def action_go_on(self) -> None:
        self.bench.link.send(GoOn)

    def action_step(self) -> None:
        """One turn and its calls, then paused again."""
        self.bench.link.send(lambda session: GoOn(session, 1))

    def run_own(self, text: str) -> bool:
        """Run ``!command`` in the sandbox; False when ``text`` is not one."""
        command = text[1:].strip() if text.startswith("!") else ""
        if command:
            self.bench.link.send(lambda session: RunCommand(session, command))
        return bool(command)

    def action_plan(self) -> None:
        """Show the plan that waits, to approve, edit or reject it."""
        if plan := self._plan():
            self.bench.asking.recall(plan.id)
            self.bench.answer()

    def reject_plan(self, reason: str) -> None:
        """Reject it, with the reason typed after the command."""
        if plan := self._plan():
            id = plan.id
            self.bench.link.send(lambda session: DecidePlan(session, id, "reject", reason=reason))

    def _plan(self) -> Plan | None:
        state = self.bench.link.state
        if state is None or state.plan is None:
            self.bench.say("No plan waits for you.")
            return None
        return state.plan
