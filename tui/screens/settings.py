"""Settings: every value with where it comes from, to change in the person's own file; and the keys of every action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.binding import BindingType

import themes
from tui import preferences
from tui.actions import Action
from tui.editor import open_file
from tui.format import plural
from tui.look import clip, homely, one_line, spread
from tui.replay.keys import bound, hint_line
from tui.screens.lines_screen import LinesScreen
from tui.screens.settings_changes import SettingChanges
from tui.settings.lines import explain, list_line
from tui.settings.rows import Entry, entries
from tui.widgets.line import Line
from tui.widgets.searched_list import SearchedList

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from engine.settings_shown import SettingsShown
    from tui.host import Ask, Host

CHANGE, LEAVE = "Change", "Leave"
OFFERED: tuple[Action, ...] = (
    Action("edit", "Change it: choose, switch, type, or press the new key", CHANGE, ("enter", "e"), hint="change"),
    Action("restore", "Take your own value away: the default counts again", CHANGE, ("delete", "backspace"),
           hint="default"),
    Action("open", "Open the file it stands in with your editor", CHANGE, ("o",), hint="editor"),
    Action("search", "Show only lines with these words", LEAVE, ("slash",), hint="search"),
    Action("group_on", "To the next group", LEAVE, ("tab",), hint="group", call="group(1)"),
    Action("group_back", "To the group before", LEAVE, ("shift+tab",), call="group(-1)"),
    Action("reload", "Read the files again", LEAVE, ("r",)),
    Action("back", "Back; while searching, end the search", LEAVE, ("escape", "q"), hint="back"),
    Action("keys", "All keys", LEAVE, ("question_mark",), hint="keys"),
)  # fmt: skip


class SettingsScreen(SettingChanges, LinesScreen[None]):
    """``folder`` is the one they hold in; ``session``: what the open session has instead of some of them."""

    CSS_PATH = themes.stylesheet("settings")
    BINDINGS: ClassVar[list[BindingType]] = bound(OFFERED)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide"), (160, "-full")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]  # noqa: RUF012

    def __init__(self, ask: Ask, folder: str, session: Callable[[], Mapping[str, object]]) -> None:
        super().__init__()
        self.ask, self._folder, self._session = ask, folder, session
        self.found: SettingsShown | None = None
        self.all: tuple[Entry, ...] = ()
        self.shown: tuple[Entry, ...] = ()
        self._said = ("", False)

    @property
    def bench(self) -> Host:
        """The app, by its own type."""
        return cast("Host", self.app)

    @property
    def chosen(self) -> Entry | None:
        return self.shown[self.list.index] if self.shown else None

    def offered(self) -> Sequence[Action]:
        return OFFERED

    def compose(self) -> ComposeResult:
        yield Line(self._head, id="settings-head")
        about = Line(self._about, id="settings-about")
        self.searched = SearchedList(self.look, about, id="settings-list")
        self.list = self.searched.list
        yield self.searched
        yield Line(self._foot, id="settings-foot")
        yield Line(lambda width: hint_line(OFFERED, width, self.look), id="settings-keys")

    def on_mount(self) -> None:
        self.list.focus()
        self._instead("reading")
        self.action_reload()

    # --- reading and showing -----------------------------------------------------------------------------------------

    def heard(self) -> None:
        """The engine said something: if it could not answer before, it may now."""
        if self.found is None:
            self.action_reload()

    def action_reload(self) -> None:
        self.run_worker(self.read(), group="read", exclusive=True)

    async def read(self) -> None:
        """Read the files again, put to use what changed for the screen, and show all."""
        from engine.queries import ShowSettings

        try:
            found = await self.ask(ShowSettings(self._folder))
        except Exception as error:
            self._instead(str(error) or type(error).__name__)
            return
        after = preferences.of(found)
        # A theme that was put on for this run alone stays until the settings themselves change.
        before = preferences.of(self.found) if self.found else replace(self.bench.ui_settings, theme=after.theme)
        self.found = found
        preferences.apply(self.bench, before, after)
        self.all = entries(found, self._session(), self.bench.theme_names())
        self._show()

    def _show(self) -> None:
        words, chosen = self.searched.words, self.chosen
        self.shown = tuple(entry for entry in self.all if entry.has(words))
        if self.shown:
            keys = [(entry.group, entry.key) for entry in self.shown]
            same = (chosen.group, chosen.key) if chosen else None
            self.list.show(len(self.shown), self._line, keys.index(same) if same in keys else 0)
        else:
            self._instead("no setting has these words" if self.all else "reading")
        self.refresh_lines()

    def _instead(self, words: str) -> None:
        """Words where the list would be."""
        self.shown = ()
        self.list.say(words)

    def _line(self, index: int, width: int) -> Text:
        first = not index or self.shown[index - 1].group != self.shown[index].group
        # The topmost line in view names its group too.
        return list_line(self.shown[index], first or index == self.list.scroll_offset.y, width, self.look)

    def _head(self, width: int) -> Text:
        roles, count = self.look.roles, len(self.shown)
        words = plural(count, "line") if self.found else "reading"
        if count < len(self.all):
            words = f"{count} of {plural(len(self.all), 'line')}"
        left = Text.assemble((" settings ", roles.text), (words, roles.muted))
        if wrong := sum(entry.problem is not None for entry in self.all):
            left.append(f"  {self.look.signs.risk} {wrong} not used", roles.warn)
        group = f"{self.chosen.group} " if self.chosen else ""
        return spread(left, Text(group, style=roles.muted), width, self.look.signs.ellipsis)

    def _about(self, width: int) -> Text:
        entry = self.chosen
        return Text("\n").join(explain(entry, width, self.look)) if entry else Text()

    def _foot(self, width: int) -> Text:
        words, warn = self._said
        if words:
            sign = self.look.signs.risk if warn else self.look.signs.done
            return Text(f" {sign} {words}", style=self.look.roles.warn if warn else self.look.roles.ok)
        file = f" your file: {homely(self.found.file)}" if self.found else ""
        project = f"   project's: {homely(self.found.project)}" if self.found and self.found.project else ""
        return clip(Text(file + project, style=self.look.roles.muted), width, self.look.signs.ellipsis)

    def tell(self, words: str, *, warn: bool = False) -> None:
        """Say it on the line under the list, and in passing where that line is not shown."""
        self._said = (one_line(words), warn)
        foot = self.query_one("#settings-foot")
        foot.refresh()
        if words and (warn or not foot.display):
            self.bench.say(words, warn)

    def on_row_list_moved(self) -> None:
        self._said = ("", False)
        self.refresh_lines()

    def on_row_list_opened(self) -> None:
        self.action_edit()

    def on_searched_list_searched(self) -> None:
        self._show()

    # --- moving ------------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        self.searched.search()

    def action_group(self, way: int) -> None:
        """To the first line of the next group, or of the one before; round and round."""
        self.list.focus()
        starts = [n for n, entry in enumerate(self.shown) if not n or self.shown[n - 1].group != entry.group]
        if not starts:
            return
        at = sum(start <= self.list.index for start in starts) - 1
        self.list.action_move(starts[(at + way) % len(starts)] - self.list.index)

    def action_back(self) -> None:
        """Out of the search first, then out of the screen."""
        if not self.searched.end_search():
            self.dismiss(None)

    def action_open(self) -> None:
        """The file the chosen line stands in, else the person's own, in their editor; then it is read again."""
        self.run_worker(self._open(), group="open", exclusive=True)

    async def _open(self) -> None:
        from engine.queries import SettingsFile

        entry = self.chosen
        try:
            own: Path = await self.ask(SettingsFile())
        except Exception as error:
            self.tell(str(error) or type(error).__name__, warn=True)
            return
        path, line = (Path(entry.path), entry.line) if entry and entry.path else (own, 0)
        open_file(self.bench, path, line)
        await self.read()
