"""Actions of the workbench that open, replay and change a session. Each change is a command; the engine makes it an
event, and what is shown follows from that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.commands import ChangeSetting
from tui import limits, slots
from tui.actions import APPROVE_MODES, MODE_WORDS, next_mode
from tui.format import approve_mode
from tui.look import one_line

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.host import Host
    from tui.screens.compaction import Control

    Base = Screen[None]
else:
    Base = object

MODEL_HELP = (
    "provider/model, such as anthropic/…, openai/…, openai-chat/… with --base-url, local/FILE.gguf, script/FILE"
)


class SessionActions(Base):
    """Mixed into the workbench screen, which provides ``bench`` and ``transcript``, and goes on with a session."""

    bench: Host
    transcript: Any
    _go_on_with: Any
    _sought = ""
    _led = False

    def change(self, name: str, value: Any) -> None:
        """Ask the engine to change a setting of the session."""
        self.bench.link.send(lambda session: ChangeSetting(session, name, value))

    def action_cycle_approve(self) -> None:
        """The mode after the present one; quick presses count from the one asked for last."""
        self.set_approve(next_mode(self.bench.mode))

    def set_approve(self, mode: str) -> None:
        """Change what happens when something is risky, and say what that means."""
        names = {approve_mode(known): known for known in APPROVE_MODES}
        mode = names.get(mode, mode)
        if mode not in APPROVE_MODES:
            self.bench.say(f"There is no mode {mode!r}: {', '.join(names)}.", warn=True)
            return
        self.bench.mode = mode
        self.change("approve", mode)
        self.bench.say(f"{approve_mode(mode)}: {MODE_WORDS[mode]}")

    def action_memory(self) -> None:
        """What is remembered of this folder and of the person."""
        link = self.bench.link
        if link.state and link.session:
            tab = link.tabs.shown
            folder = link.state.cwd or str(self.bench.options.cwd)
            newest = lambda: tab.state.seq if tab.state else 0  # noqa: E731
            self.app.push_screen(slots.memory(self.bench.ask, folder, link.sender(), newest))

    def action_settings(self) -> None:
        """Every setting as it holds in the folder of the session."""
        from tui.settings.rows import of_session

        link = self.bench.link
        folder = (link.state.cwd if link.state else "") or str(self.bench.options.cwd)
        self.app.push_screen(slots.settings(self.bench.ask, folder, lambda: of_session(link.state)))

    def action_rewind(self) -> None:
        """Where to go back to; not while the agent works."""
        link = self.bench.link
        if link.state and link.state.running:
            self.bench.say("Interrupt the agent first (Esc); then you can go back.")
        elif link.session:
            self.app.push_screen(slots.rewind(self.bench.ask, link.session, link.sender()))

    def action_change_model(self, spec: str = "") -> None:
        if spec:
            self.change("model", spec)
            return
        state = self.bench.link.state
        self._ask("Model for the next turn", state.model if state else "", MODEL_HELP, "model")

    def action_rename(self, title: str = "") -> None:
        if title:
            self.change("title", title)
            return
        state = self.bench.link.state
        self._ask("Title of this session", state.title if state else "", "Shown above and in the list.", "title")

    def _ask(self, title: str, value: str, help: str, name: str) -> None:
        from tui.screens.ask_text import AskText

        def done(text: str | None) -> None:
            if text and text != value:
                self.change(name, text)

        self.app.push_screen(AskText(title, value, help), done)

    def action_change_limits(self, text: str = "") -> None:
        state = self.bench.link.state
        present = state.limits.model_dump() if state else {}
        if text:
            try:
                self.change("limits", limits.parse(text, present))
            except ValueError as error:
                self.bench.say(str(error), warn=True)
            return
        from tui.screens.ask_text import AskText

        def wrong(written: str) -> str:
            try:
                limits.parse(written, present)
            except ValueError as error:
                return str(error)
            return ""

        def done(written: str | None) -> None:
            if written is not None:
                self.change("limits", limits.parse(written, present))

        help = "Each stops the run with its state saved. none lifts a limit; money in USD."
        self.app.push_screen(AskText("Limits of a run", limits.write(present), help, wrong), done)

    def action_done_when(self, text: str = "") -> None:
        """The condition of being finished: ``off`` or nothing lifts it; without ``text`` a person is asked."""
        from engine.facts import KNOWN
        from engine.stages import problems
        from tui.screens.ask_text import AskText

        def conditions(written: str) -> tuple[str, ...]:
            return () if written.strip() in ("", "off") else (written.strip(),)

        def wrong(written: str) -> str:
            return "; ".join(problems(conditions(written)))

        def done(written: str | None) -> None:
            if written is None:
                return
            self.change("done_when", list(conditions(written)))
            self.bench.say("Done when: " + (conditions(written) or ("the model says so",))[0])

        if text:
            if problem := wrong(text):
                self.bench.say(problem, warn=True)
            else:
                done(text)
            return
        state = self.bench.link.state
        present = state.done_when if state else ()
        shown = present[0] if len(present) == 1 else " and ".join(f"({one})" for one in present)
        help = f"Such as tests_pass == true and todo_open == 0; off lifts it. Facts: {', '.join(KNOWN)}."
        self.app.push_screen(AskText("The task is done when", shown, help, wrong), done)

    def action_find(self, text: str = "") -> None:
        """Search what was said and done; an empty text ends a search."""
        from tui.screens.ask_text import AskText

        def search(written: str | None) -> None:
            if written is not None:
                self._sought = written
                self.transcript.find(written)
                self.transcript.focus()

        if text:
            search(text)
        else:
            self.app.push_screen(
                AskText("Search the transcript", "", "n and N go to the next and previous match."), search
            )

    def on_transcript_found(self, message: Any) -> None:
        """Go to the newest match as soon as there is one; say how many there are when all was looked at."""
        if message.text != self._sought or message.transcript is not self.transcript:
            return
        if message.matches and not self._led:
            self._led = True
            self.transcript.find_prev()
        if message.complete:
            self._sought, self._led = "", False
            sought = repr(one_line(message.text, 60))
            if message.matches:
                count = "1 match" if message.matches == 1 else f"{message.matches:,} matches"
                self.bench.say(f"{count} of {sought}: n and N go from one to the next.")
            else:
                self.bench.say(f"Nothing here holds {sought}.", warn=True)

    def action_inspector(self) -> None:
        if self.bench.link.session:
            self.app.push_screen(slots.inspector(self.bench.ask, self.bench.link.session, control=self._control()))

    def action_compactions(self) -> None:
        if self.bench.link.session:
            self.app.push_screen(slots.compactions(self.bench.ask, self.bench.link.session, self._control()))

    def _control(self) -> Control:
        """What a screen over this one can do to the session that is open."""
        from tui.screens.compaction import Control

        tab = self.bench.link.tabs.shown
        return Control(
            send=self.bench.link.sender(),
            automatic=lambda: tab.state is None or tab.state.compaction != "off",
            seq=lambda: tab.state.seq if tab.state else 0,
        )

    def action_replay(self) -> None:
        if self.bench.link.session:
            self.app.push_screen(slots.player(self.bench.ask, self.bench.link.session), self._go_on_with)

    def action_setup(self) -> None:
        self.bench.set_up()

    def action_trust(self) -> None:
        self.bench.ask_trust()
