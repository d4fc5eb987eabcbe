"""The replay browser by itself: the list of stored sessions, and the player. Nothing is opened for writing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding

from tui import slots
from tui.link import Factory, Link
from tui.theming import Themed

if TYPE_CHECKING:
    from textual.binding import BindingType

    from engine.options import EngineOptions
    from engine.queries import Query


class ReplayApp(Themed):
    """``session`` is played at once; without it the list comes first. The result is the id of the session a person
    wants to go on with, or ''."""

    TITLE = "agent-tui replay"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", priority=True),
        Binding("f7", "jump", "Jump: letters on everything in sight", priority=True),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, factory: Factory, options: EngineOptions, session: str = "") -> None:
        super().__init__(options.theme)
        self.options = options
        self.link = Link(factory, options, lambda: None)
        self._session = session

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.link.start(None)
        if self._session:
            screen = slots.player(self.ask, self._session)
        else:
            screen = slots.sessions(self.ask, str(self.options.cwd), "play")
        self.push_screen(screen, lambda chosen: self.exit(chosen or ""))

    async def ask(self, query: Query) -> Any:
        """A question for the engine."""
        return await self.link.query(query)

    def action_jump(self) -> None:
        from tui.jump.screen import jump

        jump(self)

    async def action_quit(self) -> None:
        await asyncio.to_thread(self.link.close)
        self.exit("")
