"""Where a person types: to give the task, to steer while it runs, to queue what comes next."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Literal, Self, cast

from textual import events
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

import themes
from engine.text import clean
from tui.widgets.composer_complete import Wanted, command_of, matching, nearest, wanted
from tui.widgets.composer_editor import Editor, Kind
from tui.widgets.composer_history import History, Search
from tui.widgets.composer_list import CompletionList
from tui.widgets.composer_pastes import Pastes, tidy

if TYPE_CHECKING:
    from textual.widgets import TextArea

    from tui.theming import Themed

IDLE = "say what should be done; @ files; / commands"
RUNNING = "type to steer; Alt+Enter queues; @ files; / commands"
DEBOUNCE = 0.08
"""Seconds of rest before the engine is asked for files."""
PAUSE = 0.5
"""Seconds of rest after which the draft is worth keeping."""


class Composer(Widget):
    """One line that grows to eight. Long pastes show as chips and go out in full.

    ``complete`` finds files for what follows ``@``; ``slash``: commands and what they do; ``history``: texts sent
    before, oldest first.
    """

    DEFAULT_CSS = themes.stylesheet("composer").read_text(encoding="utf-8")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "clear", "Copy the selection, or clear the draft", show=False),
    ]

    class Submitted(Message):
        """``text`` is to be sent, as it is: chips in full, nothing cut."""

        def __init__(self, text: str, kind: Literal["steer", "follow_up"]) -> None:
            super().__init__()
            self.text, self.kind = text, kind

    class TakeBack(Message):
        """The newest message that waits is wanted back."""

    class Slash(Message):
        """A known command was entered."""

        def __init__(self, command: str, argument: str = "") -> None:
            super().__init__()
            self.command, self.argument = command, argument

    class Said(Message):
        """``text`` was entered, chips in full: worth being found again."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Drafted(Message):
        """The draft is another one, and typing has paused."""

    running = reactive(False)

    def __init__(
        self,
        complete: Callable[[str], Awaitable[tuple[str, ...]]],
        slash: Sequence[tuple[str, str]],
        history: Sequence[str] = (),
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._complete, self._slash = complete, slash
        self._pastes, self._history = Pastes(), History(history)
        self._editor = Editor(self._pastes, self._enter)
        self._list = CompletionList()
        self._wanted: Wanted | None = None
        self._put_away: Wanted | None = None
        self._rest: Timer | None = None
        self._pause: Timer | None = None
        self._changed = 0.0
        self._search: Search | None = None

    def compose(self) -> ComposeResult:
        signs = cast("Themed", self.app).look.signs
        yield self._list
        with Horizontal(id="composer-line"):
            yield Static(f" {signs.prompt} ", id="composer-sign", markup=False)
            yield self._editor

    def on_mount(self) -> None:
        self.watch_running()
        self._editor.focus()

    def watch_running(self) -> None:
        self._editor.placeholder = Content(RUNNING if self.running else IDLE)
        self.set_class(self.running, "-running")

    # --- what others may ask of it -----------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The draft as it would be sent."""
        return self._pastes.expand(self._editor.text)

    @text.setter
    def text(self, value: str) -> None:
        self.set_text(value)

    def set_text(self, text: str) -> None:
        """Show another draft. The one that was there stays within reach of Up unless the new one holds it."""
        before = self._editor.text
        draft = self._pastes.fold(tidy(text))
        if before.strip() and before.strip() not in draft:
            self._history.add(before)
        self._load(draft)

    def recall(self, entries: Sequence[str], elsewhere: Sequence[str] = ()) -> None:
        """Take what was said before this app was opened, oldest first: here, and in other folders."""
        self._history.recall(entries, elsewhere)

    def search(self) -> None:
        """Search what was said before with what is typed from here on; asked again, go on to the next one found."""
        self.focus()
        if self._search is not None:
            if self._list.open:
                self._list.move(1)
            return
        self._search = Search(self._editor.text)
        self._find()

    def focus(self, scroll_visible: bool = True) -> Self:
        self._editor.focus(scroll_visible)
        return self

    # --- sending -----------------------------------------------------------------------------------------------------

    def _enter(self, kind: Kind) -> None:
        """Choose from the list when it is open, else send."""
        if self._search is not None:
            self._found()
            return
        if kind == "steer" and self._list.open:
            self._choose(run=True)
            return
        text = clean(self.text)
        if not text.strip():
            return
        command = command_of(text)
        if command is None:
            self._sent()
            self.post_message(self.Submitted(text.rstrip().lstrip("\n"), kind))
        elif command[0] in dict(self._slash):
            self._sent()
            self.post_message(self.Slash(*command))
        else:
            near = nearest(command[0], self._slash)
            hint = f"Did you mean /{near}?" if near else "/help lists all."
            self._list.say(f"There is no /{command[0]}. {hint} Begin with // to send it as text.")

    def _sent(self) -> None:
        self._said(self._editor.text.strip())
        self._load("")

    def _said(self, draft: str) -> None:
        self._history.add(draft)
        self.post_message(self.Said(self._pastes.expand(draft)))

    def _load(self, draft: str) -> None:
        self._put_away = self._search = None
        self._editor.load(draft)

    def action_clear(self) -> None:
        """Clear the draft, which Up brings back; nothing to clear leaves the key to the app."""
        if not self._editor.text:
            raise SkipAction
        self._history.add(self._editor.text)
        self._load("")

    # --- keys the text has no use for --------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        if self._search is not None:
            used = self._on_search_key(event.key)
        else:
            used = self._list.open and self._on_list_key(event.key)
        if used or self._on_other_key(event.key):
            event.stop()
            event.prevent_default()

    def _on_search_key(self, key: str) -> bool:
        """Whether the search had use for the key."""
        if key == "escape" and self._search is not None:
            self._show(self._search.draft)
        elif key == "tab":
            self._found()
        elif key in ("up", "down"):
            if self._list.open:
                self._list.move(1 if key == "down" else -1)
        else:
            return False
        return True

    def _on_list_key(self, key: str) -> bool:
        """Whether the list had use for the key."""
        if key in ("up", "down"):
            self._list.move(1 if key == "down" else -1)
        elif key == "tab":
            self._choose(run=False)
        elif key == "escape":
            self._put_away = self._wanted
            self._list.close()
        else:
            return False
        return True

    def _on_other_key(self, key: str) -> bool:
        if key == "alt+up":
            self.post_message(self.TakeBack())
            return True
        navigator, here = self._editor.navigator, self._editor.cursor_location
        found = None
        if key == "up" and navigator.is_first_wrapped_line(here):
            found = self._history.older(self._editor.text)
        elif key == "down" and navigator.is_last_wrapped_line(here):
            found = self._history.newer()
        if found is None:
            return False
        self._show(self._pastes.fold(found))
        return True

    def _show(self, draft: str) -> None:
        """Another draft for which nothing is to be offered unasked."""
        self._list.close()
        self._load(draft)
        self._put_away = self._what()

    # --- what was said before ----------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Offer what was said with the words typed by now."""
        assert self._search is not None
        self._search.found = self._history.with_words(self._editor.text)
        if self._search.found:
            self._list.offer([(text, "") for text in self._search.found], "Enter takes it, Esc goes back")
        else:
            self._list.say("Nothing said before has these words. Esc goes back.")

    def _found(self) -> None:
        """The marked text becomes the draft; with nothing found the words typed stay and the search is over."""
        chosen = self._list.at if self._list.open and self._search is not None else None
        if chosen is None or self._search is None:
            self._show(self._editor.text)
        else:
            self._show(self._pastes.fold(self._search.found[chosen]))

    # --- completion --------------------------------------------------------------------------------------------------

    def _what(self) -> Wanted | None:
        row, column = self._editor.cursor_location
        return wanted(self._editor.document[row], column, self._editor.document.line_count == 1)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Look whether something is being typed that can be completed."""
        event.stop()
        if self._search is not None:
            self._find()
            return
        self._await_pause()
        found = self._wanted = self._what()
        if self._rest is not None:
            self._rest.stop()
        if found is None:
            self._put_away = None
        if found is None or (
            self._put_away and (found.kind, found.start) == (self._put_away.kind, self._put_away.start)
        ):
            self._list.close()
        elif found.kind == "command":
            self._offer(matching(found.typed, self._slash))
        else:
            self._rest = self.set_timer(DEBOUNCE, self._look_up)

    def _await_pause(self) -> None:
        """One timer for a whole run of keys: it looks when the last one was."""
        self._changed = monotonic()
        if self._pause is None:
            self._pause = self.set_timer(PAUSE, self._maybe_paused)

    def _maybe_paused(self) -> None:
        left = self._changed + PAUSE - monotonic()
        self._pause = self.set_timer(left, self._maybe_paused) if left > 0 else None
        if self._pause is None and self._search is None:
            self.post_message(self.Drafted())

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        if self._search is None and self._list.open and self._what() != self._wanted:
            self._list.close()

    def _offer(self, items: Sequence[tuple[str, str]]) -> None:
        if items:
            self._list.offer(items)
        else:
            self._list.close()

    def _look_up(self) -> None:
        if self._wanted is not None:
            self.run_worker(self._files(self._wanted), group="complete", exclusive=True)

    async def _files(self, asked: Wanted) -> None:
        try:
            found = await self._complete(asked.typed)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            # Completion is a help, not a need: say why there is none and let the person type on.
            self._list.say(f"Files could not be looked up: {error or type(error).__name__}")
            return
        if asked == self._wanted == self._what():
            self._offer([(path, "") for path in found])

    def on_completion_list_chosen(self) -> None:
        if self._search is not None:
            self._found()
        else:
            self._choose(run=False)

    def _choose(self, run: bool) -> None:
        """Take the marked row: a file into the text; a command too, or at once when ``run``."""
        found, name = self._wanted, self._list.chosen
        if found is None or not name:
            return
        self._list.close()
        if found.kind == "command" and run:
            self._load("")
            self._said(f"/{name}")
            self.post_message(self.Slash(name))
            return
        row, column = self._editor.cursor_location
        more = "" if name.endswith("/") else " "
        sign = "/" if found.kind == "command" else "@"
        self._editor.replace(f"{sign}{name}{more}", (row, found.start), (row, column), maintain_selection_offset=False)
        self._editor.focus()
