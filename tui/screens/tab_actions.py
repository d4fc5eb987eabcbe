"""Actions of the workbench on its session tabs: another one, from one to the next, close one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.widget import Widget

from engine.commands import OpenSession
from tui import slots
from tui.screens.sheet import Sheet

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.host import Host
    from tui.session_tabs import Tab

    Base = Screen[None]
else:
    Base = object


HASTE = 0.2
"""Seconds after which keys that are still under way are not waited for: whoever has them may be waiting for us."""


class TabActions(Base):
    """Mixed into the workbench screen, which provides ``bench`` and lays a sheet before the person."""

    bench: Host
    sheet: Sheet
    sheets: dict[Tab, Sheet]

    def lay(self, sheet: Sheet) -> None:
        """Show a session."""
        raise NotImplementedError

    def sheet_for(self, tab: Tab) -> Any:
        """Make the sheet of a tab that has none; what is returned can be awaited until it is there."""
        raise NotImplementedError

    def follow_tabs(self) -> None:
        """Have a sheet for each tab, and the right one in sight."""
        tabs = self.bench.link.tabs
        for tab in tabs.all:
            if tab not in self.sheets:
                self.sheet_for(tab)
        if self.sheet is not self.sheets[tabs.shown]:
            self.lay(self.sheets[tabs.shown])
        for tab in [tab for tab in self.sheets if tab not in tabs.all]:
            self.sheets.pop(tab).put_away()

    def show_tab(self, tab: Tab) -> None:
        """Go to a session; requests that wait in it come first from now on."""
        self.bench.link.tabs.shown = tab
        self.follow_tabs()

    def action_show_session(self, number: int) -> None:
        """``number`` counts from 0."""
        tabs = self.bench.link.tabs.all
        if number < len(tabs):
            self.show_tab(tabs[number])

    async def action_next_session(self) -> None:
        await self._keys_before()
        self.show_tab(self.bench.link.tabs.beside(1))

    async def action_previous_session(self) -> None:
        await self._keys_before()
        self.show_tab(self.bench.link.tabs.beside(-1))

    async def _keys_before(self) -> None:
        """What was pressed before is for the session in sight: let each widget on its way have done with it, so that an
        Esc or an Enter never reaches the session gone to."""
        for node in self.focused.ancestors_with_self if self.focused else ():
            done = asyncio.Event()
            if isinstance(node, Widget) and node.call_later(done.set):
                with suppress(TimeoutError):
                    await asyncio.wait_for(done.wait(), HASTE)

    async def action_waiting_session(self) -> None:
        """The next tab in which something waits; what was put aside there is offered again."""
        await self._keys_before()
        tab = self.bench.link.tabs.next_waiting()
        if tab is None:
            self.bench.say("No other session waits for you.")
            return
        self.show_tab(tab)
        self.bench.answer()

    async def action_new_session(self) -> None:
        """A new session beside the others; in place of the one shown when nobody has said anything there."""
        await self._keys_before()
        await self._open(OpenSession())

    def action_sessions(self) -> None:
        self.app.push_screen(slots.sessions(self.bench.ask, str(self.bench.options.cwd)), self._go_on_with)

    async def _go_on_with(self, session: str | None) -> None:
        """Go to a stored session: to its tab, or to a new one."""
        tab = self.bench.link.tabs.of(session or "")
        if tab is not None:
            self.show_tab(tab)
        elif session:
            await self._open(OpenSession(id=session))

    async def _open(self, opening: OpenSession) -> None:
        link = self.bench.link
        if link.tabs.shown.untouched:
            link.open(opening, link.tabs.shown)
            return
        tab = link.tabs.add()
        await self.sheet_for(tab)
        self.follow_tabs()
        link.open(opening, tab)

    def action_close_session(self) -> None:
        """Close what is shown, after a word of the person where something would be cut off or lost."""
        link, tab = self.bench.link, self.bench.link.tabs.shown
        if not link.tabs.several and tab.untouched:
            self.bench.say("This is the only session, and it is empty. Ctrl+Q quits.")
            return
        if tab.working or self.sheet.own_runs:
            self._make_sure(tab, "Interrupt what runs, save it and close", "Leave it open: the agent works in it")
        elif self.sheet.composer.text.strip():
            self._make_sure(tab, "Close it and throw the unsent message away", "Leave it open")
        else:
            self._close(tab)

    def _make_sure(self, tab: Tab, yes: str, no: str) -> None:
        choices: list[Any] = [(no, lambda: None), (yes, lambda: self._close(tab))]
        self.bench.search_commands(choices, placeholder="Close this session?")

    def _close(self, tab: Tab) -> None:
        if tab in self.bench.link.tabs.all:
            self.bench.link.close_tab(tab)
            self.bench.closed(tab.session)
            self.follow_tabs()
