"""Actions of the workbench on a run under way: how it stops, what waits to be said, pauses, its plan, and a command of
one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.commands import DecidePlan, GoOn, Interrupt, Pause, RunCommand
from tui import slots

if TYPE_CHECKING:
    from textual.screen import Screen

    from engine.hands import Plan
    from tui.host import Host
    from tui.screens.sheet import Sheet
    from tui.session_tabs import Tab

    Base = Screen[None]
else:
    Base = object


class MidrunActions(Base):
    """Mixed into the workbench screen, which provides ``bench``, ``composer`` and ``sheet``."""

    bench: Host
    sheet: Sheet
    composer: Any

    def action_queue(self) -> None:
        """What waits to be said, to edit, order and take back."""
        sheet = self.sheet
        self.app.push_screen(slots.queue(sheet.arranging, lambda: sheet.tab.state, sheet.give_back))

    def action_interrupt(self) -> None:
        """Stop what runs, a command of one's own first. A person is asked what is to become of a call that may be
        changing something; when nothing runs, Esc leads back to the composer."""
        tab, own_runs = self.sheet.tab, self.sheet.own_runs
        state = tab.state
        if state and state.in_effect and not own_runs:
            dialog = slots.stop(lambda: tab.state.in_effect if tab.state else (), len(self.sheet.arranging.items))
            self.app.push_screen(dialog, lambda answer: self._stop(tab, answer))
        elif (state and state.running) or own_runs:
            self.bench.link.send(Interrupt)
        else:
            self.composer.focus()

    def _stop(self, tab: Tab, answer: str | None) -> None:
        """Do what was chosen, to the session it was asked about. What ended before anything was chosen is no reason to
        go on: the person came to stop."""
        state, link = tab.state, self.bench.link
        another = bool(state and state.in_effect)
        if answer == "now":
            link.send_to(tab, Interrupt)
        elif answer == "after":
            link.send_to(tab, lambda session: Interrupt(session, after_calls=True))
            self.bench.say("It stops when what runs has ended.")
        elif answer == "ended" and state and state.running:
            link.send_to(tab, lambda session: Interrupt(session, after_calls=another))
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
            self.bench.asking.recall((self.bench.link.session, plan.id))
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
