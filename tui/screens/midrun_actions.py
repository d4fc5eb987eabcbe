"""Actions of the workbench on a run under way: what waits to be said, pauses, the plan, a command of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.commands import DecidePlan, GoOn, Pause, RunCommand
from tui import slots

if TYPE_CHECKING:
    from textual.screen import Screen

    from engine.hands import Plan
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

    def action_approve_plan(self) -> None:
        """Approve the plan that waits, as it stands."""
        if plan := self._plan():
            self.bench.link.send(lambda session: DecidePlan(session, plan.id, "approve"))

    def action_reject_plan(self, reason: str = "") -> None:
        """Reject it and say why; without ``reason`` a person is asked."""
        plan = self._plan()
        if plan is None:
            return
        id = plan.id

        def done(written: str | None) -> None:
            if written:
                self.bench.link.send(lambda session: DecidePlan(session, id, "reject", reason=written))

        if reason:
            done(reason)
            return
        from tui.screens.ask_text import AskText

        self.app.push_screen(AskText("Why not this plan?", "", "The agent reads it and makes another plan."), done)

    def _plan(self) -> Plan | None:
        state = self.bench.link.state
        if state is None or state.plan is None:
            self.bench.say("No plan waits for you.")
            return None
        return state.plan
