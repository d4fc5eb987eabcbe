"""What a person does to a run besides talking to it: pause and step it, arrange what waits, run a command of their own,
decide about a plan, go back. Mixed into the runner; each returns at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine import commands as cmd
from engine import events as ev
from engine import planning, queueing
from engine.log import LogError
from engine.pausing import Pausing
from engine.person import PersonCommands
from engine.rewinding import Rewinder
from engine.session import Session


class Intervening:
    """Needs what the runner has: a session, a pause, and where a person's commands run."""

    session: Session
    _pausing: Pausing
    _person: PersonCommands
    _rewinder: Rewinder

    if TYPE_CHECKING:

        @property
        def running(self) -> bool: ...
        def start(self, resumed: bool = False, limits: ev.Limits | None = None) -> None: ...
        def send(self, text: str, kind: str) -> None: ...
        def change(self, command: cmd.ChangeSetting) -> None: ...

    def pause(self) -> None:
        """Stand still before the next turn; without a run, before the first of the next one."""
        self._pausing.pause()

    def go_on(self, turns: int) -> None:
        """Let a paused run go on; one that a restart or an interrupt cut short starts again where it stopped."""
        self._pausing.go_on(turns)
        state = self.session.state
        if not self.running and (state.pending or (state.goal and not self.session.answered)):
            self.start(resumed=True)

    async def rewind(self, command: cmd.Rewind) -> None:
        """Go back in the conversation, the files or both; never under a run."""
        why = "interrupt the agent first"
        if not self.running:
            try:
                async with self.session.whole():
                    why = await self._rewinder.go_back(command)
            except LogError as error:
                why = f"what was before cannot be read: {error}"
        if why:
            self.session.append(ev.Notice(level="warn", text=f"not gone back: {why}"))

    def arrange(self, command: cmd.ArrangeQueue) -> None:
        """What waits, in a person's order and words."""
        queueing.arrange(self.session, command)

    def run_command(self, command: str) -> None:
        """Run a person's own command in the sandbox, beside whatever goes on."""
        self._person.run(command)

    def decide_plan(self, command: cmd.DecidePlan) -> None:
        """Approve or reject the plan that waits; the work goes on with what the person says by it."""
        decided = ev.PlanDecided(id=command.id, choice=command.choice, text=command.text, reason=command.reason)
        if said := planning.decide(self.session, decided):
            if command.choice == "approve":
                self.change(cmd.ChangeSetting(self.session.id, "approve", command.mode))
            self.send(said, "steer")
