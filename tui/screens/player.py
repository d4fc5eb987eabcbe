"""The player: a stored session fed to the widgets of the workbench, from any place and at any speed."""

from __future__ import annotations

import asyncio
import gc
import os
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rich.text import Text
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

import themes
from tui import slots
from tui.bridge import FRAME
from tui.replay.keys import PLAYER, TENTHS, bound, hint_line
from tui.replay.track import tenth
from tui.screens.player_lines import Place, head_line, now_line
from tui.widgets.approvals import ApprovalsPane, Decisions
from tui.widgets.cache import CachePane
from tui.widgets.files import FilesPane
from tui.widgets.line import Line
from tui.widgets.task import TaskPane
from tui.widgets.timeline import Timeline
from tui.widgets.todo import TodoList

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.timer import Timer

    from tui.host import Ask
    from tui.look import Look
    from tui.replay.film import Facts, Film
    from tui.replay.moments import Goal
    from tui.replay.projector import Projector
    from tui.theming import Themed

LONGEST_TICK = 0.25
"""Seconds that pass at most between two ticks: a screen that was held up does not skip."""
GOALS: dict[Goal, str] = {"turn": "turn", "approval": "approval", "error": "error", "user": "message of yours"}


class PlayerScreen(Screen["str | None"]):
    """``session``: an id, or the path of an exported file. The result is the id of a session to go on with, or None."""

    CSS_PATH = themes.stylesheet("player")
    BINDINGS: ClassVar[list[BindingType]] = [*bound(PLAYER, priority=True), *TENTHS]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-full")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (10, "-low"), (34, "-tall")]  # noqa: RUF012

    def __init__(self, ask: Ask, session: str) -> None:
        super().__init__(id="player")
        self._ask, self._session = ask, session
        self.projector: Projector | None = None
        self.transcript: Any = None
        self.speed = 1
        self._facts: Facts | None = None
        self._ticking: Timer | None = None
        self._ticked = 0.0
        self._panes_owed = False

    @property
    def look(self) -> Look:
        return cast("Themed", self.app).look

    def compose(self) -> ComposeResult:
        look = self.look
        self.head = Line(lambda width: head_line(None, Place(), width, look), id="player-head")
        self.timeline = Timeline(look)
        self.now = Line(lambda width: Text(), id="player-now")
        self.keys = Line(lambda width: hint_line(PLAYER, width, self.look), id="player-keys")
        self.todo_pane = TodoList(look, id="player-todo")
        self.approvals_pane = ApprovalsPane(look, id="player-approvals")
        self.panes = (
            TaskPane(look, id="player-task"),
            self.todo_pane,
            CachePane(look, id="player-cache"),
            self.approvals_pane,
            FilesPane(look, id="player-files"),
        )
        yield self.head
        yield self.timeline
        yield self.now
        with Horizontal(id="player-body"):
            yield Vertical(id="player-slot")
            with VerticalScroll(id="player-side", can_focus=False):
                yield from self.panes
        yield self.keys

    # --- start -------------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self._dress())
        self.run_worker(self._load(), group="load")

    def on_unmount(self) -> None:
        # What was frozen below is collected no more: all of the session would stay.
        self.projector = None

    async def _load(self) -> None:
        """Read and show; then fold the rest of the states beside whoever is watching already."""
        make = await asyncio.to_thread(slots.transcript)
        try:
            loaded = await self._ask(_source(self._session))
            film = await asyncio.to_thread(_film, loaded)
        except Exception as error:
            self.head.show(lambda width: Text(" This session cannot be played", style=self.look.roles.danger))
            await self._say(_words(error))
            return
        self.transcript = make(signs=self.look.signs, id="transcript")
        if len(film):
            await self.query_one("#player-slot").mount(self.transcript)
            self.transcript.focus()
        else:
            await self._say("There is nothing in this session yet.")
        self._begin(film)
        # A long session is a million objects that stay: the collector need not look through them at each jump.
        gc.freeze()
        while await asyncio.to_thread(film.develop):
            self._pay_panes()
        self._facts = await asyncio.to_thread(film.facts)
        self._pay_panes()
        self._show_lines()

    async def _say(self, words: str) -> None:
        await self.query_one("#player-slot").mount(Static(Text(words), id="player-words"))

    def _begin(self, film: Film) -> None:
        from tui.replay.projector import Projector

        self.projector = Projector(film, self.transcript, lambda seconds, call: self.set_timer(seconds, call))
        self.timeline.know(film.moments, len(film))
        self.go_to(film.opening())

    # --- what is shown -----------------------------------------------------------------------------------------------

    @property
    def playing(self) -> bool:
        return self._ticking is not None

    @property
    def length(self) -> int:
        return len(self.projector.film) if self.projector else 0

    def go_to(self, position: int) -> None:
        """Show the session as of ``position``, paused."""
        if self.projector is not None:
            self.pause()
            self.projector.go_to(position)
            self._show()

    def _show(self) -> None:
        assert self.projector is not None
        self._show_lines()
        self.timeline.at(self.projector.position)
        self._panes_owed = True
        self._pay_panes()

    def _show_lines(self) -> None:
        if self.projector is None:
            return
        film, position, look = self.projector.film, self.projector.position, self.look
        facts = self._facts or film.first_facts
        cut = self.projector.cut if self.playing else 0.0
        place = Place(position, len(film), film.turn_at(position), self.playing, self.speed, cut)
        at, kind, words = film.described(position)
        self.head.show(lambda width: head_line(facts, place, width, look))
        self.now.show(lambda width: now_line(place, at, kind, words, width, look))

    def _pay_panes(self) -> None:
        """Show the panes the state as of here, once it has been folded so far."""
        if self.projector is None or not self._panes_owed:
            return
        film, position = self.projector.film, self.projector.position
        if position > film.developed:
            return
        self._panes_owed = False
        self.todo_pane.notes.feed(film.todo_before(position))
        self.approvals_pane.notes = Decisions()
        self.approvals_pane.notes.feed(film.decisions_before(position))
        state = film.state_at(position)
        for pane in self.panes:
            pane.show(state)

    def _dress(self) -> None:
        for part in (self.timeline, *self.panes):
            part.dress(self.look)
        self.keys.refresh()
        self._show_lines()

    # --- playing -----------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play from here; from the beginning when this is the end."""
        if self.projector is None or self.playing or not self.length:
            return
        if self.projector.at_end:
            self.go_to(self.projector.film.opening() % self.length)
        self._ticked = monotonic()
        self._ticking = self.set_interval(FRAME, self._tick)
        self._show_lines()

    def pause(self) -> None:
        """Stop here; a message half written stays so."""
        if self._ticking is not None:
            self._ticking.stop()
            self._ticking = None
            self._show_lines()

    def _tick(self) -> None:
        now = monotonic()
        seconds, self._ticked = min(now - self._ticked, LONGEST_TICK), now
        self.advance(seconds * self.speed)

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` of the session pass."""
        if self.projector is None:
            return
        before = self.projector.position
        self.projector.advance(seconds)
        if self.projector.position != before:
            self._show()
        if self.projector.at_end:
            self.pause()

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_play(self) -> None:
        if self.playing:
            self.pause()
        else:
            self.play()

    def action_step(self, events: int) -> None:
        if self.projector is not None:
            self.go_to(self.projector.position + events)

    def action_go(self, goal: Goal, direction: int) -> None:
        if self.projector is None:
            return
        place = self.projector.film.moments.next(goal, self.projector.position, direction)
        if place is None:
            self.notify(f"There is no {GOALS[goal]} {'after' if direction > 0 else 'before'} this.", markup=False)
        else:
            self.go_to(place)

    def action_start(self) -> None:
        self.go_to(0)

    def action_end(self) -> None:
        self.go_to(self.length)

    def action_tenth(self, digit: int) -> None:
        self.go_to(tenth(digit, self.length))

    def action_speed(self, step: int) -> None:
        from tui.replay.clock import faster

        self.speed = faster(self.speed, step)
        self._show_lines()

    def action_panes(self) -> None:
        """Narrow: the panes instead of the transcript, and back; wide: the focus to the next of them."""
        if self.has_class("-narrow"):
            self.toggle_class("-side")
        else:
            self.focus_next()

    def action_resume(self) -> None:
        if os.sep in self._session:
            self.notify("To go on with it, take it over first: agent-tui sessions import FILE", markup=False)
        else:
            self.dismiss(self.projector.film.id if self.projector else self._session)

    def action_inspect(self) -> None:
        if self.projector is not None:
            turn = max(1, self.projector.film.turn_at(self.projector.position))
            self.app.push_screen(slots.inspector(self._ask, self._session, turn))

    def action_back(self) -> None:
        self.dismiss(None)

    def action_keys(self) -> None:
        from tui.screens.keys_here import KeysHere

        self.app.push_screen(KeysHere(self, PLAYER, self.look))

    # --- what the widgets say ----------------------------------------------------------------------------------------

    def on_cache_pane_opened(self) -> None:
        self.action_inspect()

    def on_timeline_scrubbed(self, message: Timeline.Scrubbed) -> None:
        self.go_to(message.position)

    def on_transcript_wants_picture(self, message: Any) -> None:
        """A picture is no part of the record: only its name is, and the file may be another by now."""
        from engine.queries import PictureShown

        why = "a replay holds what was said, not the files; open the session to see it"
        message.transcript.show_artifact(message.call, PictureShown(error=why))

    def on_transcript_wants_artifact(self, message: Any) -> None:
        """Someone unfolded a call whose output is longer than what its event holds."""
        from engine.queries import ReadArtifact

        async def read() -> None:
            try:
                page = await self._ask(ReadArtifact(message.digest))
            except Exception as error:
                self.notify(_words(error), severity="warning", markup=False)
            else:
                message.transcript.show_artifact(message.call, page.error or page.text)

        self.run_worker(read(), group="artifact")


def _source(session: str) -> Any:
    """The question that brings the events: an id has no folders, the path of a file has."""
    from engine.queries import LoadFile, LoadSession

    return LoadFile(session) if os.sep in session else LoadSession(session)


def _film(loaded: Any) -> Film:
    from tui.replay.film import Film

    return Film(loaded)


def _words(error: Exception) -> str:
    suggestion = getattr(error, "suggestion", "")
    return f"{error or type(error).__name__} {suggestion}".rstrip()
