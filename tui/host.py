"""What the screens may ask of the app they are on: below all of them, so that none has to know the app itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from tui.theming import Themed

if TYPE_CHECKING:
    from textual.screen import Screen

    from engine.commands import Command
    from engine.options import EngineOptions
    from engine.queries import Query
    from tui.asking import Asking
    from tui.attention import Attention
    from tui.keymap import Keymap
    from tui.link import Link

Ask = Callable[["Query"], Awaitable[Any]]


class Host(Themed):
    """The engine, the person and what waits. ``bench``: the workbench's screen. ``mode``: the approve mode of the
    session that is shown. ``leaving``: the app is about to end."""

    options: EngineOptions
    link: Link
    asking: Asking
    attention: Attention
    keymap: Keymap
    bench: Screen[Any]
    mode: str
    leaving: bool

    def tell(self, command: Command) -> None:
        """Send a command that names its session."""
        self.link.send_command(command)

    async def ask(self, query: Query) -> Any:
        """A question for the engine."""
        return await self.link.query(query)

    async def try_ask(self, query: Query) -> Any:
        """The same, for what the app can do without: None, and a word to the person, when there is no answer."""
        try:
            return await self.link.query(query)
        except Exception as error:
            self.say(f"The engine could not answer: {error or type(error).__name__}", warn=True)
            return None

    def say(self, text: str, warn: bool = False) -> None:
        """A passing word to the person."""
        self.notify(text, severity="warning" if warn else "information", markup=False)

    def answer(self) -> None:
        """A person asks for what waits."""
        raise NotImplementedError

    def closed(self, session: str) -> None:
        """A person closed a session: nothing of it waits any more."""
        raise NotImplementedError

    def run_slash(self, command: str, argument: str) -> None:
        """Do what ``/command argument`` says."""
        raise NotImplementedError

    def choose_theme(self, name: str) -> None:
        """Put a theme on and remember it."""
        raise NotImplementedError

    def ask_trust(self, files: Sequence[str] = ()) -> None:
        """Ask a person whether the project's own files may be used."""
        raise NotImplementedError

    def set_up(self) -> None:
        """The first-run screen."""
        raise NotImplementedError
