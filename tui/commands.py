"""The command palette: every action of the table, with its key; and the themes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.actions import ACTIONS, Action, key_name
from tui.look import one_line

if TYPE_CHECKING:
    from tui.host import Host


class ActionProvider(Provider):
    """Actions of the workbench are offered over the workbench, those of the app everywhere."""

    async def discover(self) -> Hits:
        for action in self._offered():
            yield DiscoveryHit(_shown(action, Content(action.title)), self._run(action), action.title)
        for words, go in self._sessions():
            yield DiscoveryHit(Content(words), go, words)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in self._offered():
            score = max(matcher.match(action.title), matcher.match(action.slash) if action.slash else 0.0)
            if score > 0:
                yield Hit(score, _shown(action, matcher.highlight(action.title)), self._run(action), action.title)
        for words, go in self._sessions():
            if (score := matcher.match(words)) > 0:
                yield Hit(score, matcher.highlight(words), go, words)

    def _offered(self) -> Iterator[Action]:
        from tui.screens.workbench import Workbench

        here = isinstance(self.screen, Workbench)
        return (action for action in ACTIONS if action.listed and (here or action.place == "app"))

    def _sessions(self) -> Iterator[tuple[str, Any]]:
        """Where one can go, when more than one session is open."""
        from tui.screens.workbench import Workbench

        app = cast("Host", self.app)
        tabs = app.link.tabs
        if tabs.several and isinstance(self.screen, Workbench):
            for number, tab in enumerate(tabs.all):
                words = f"Go to session {number + 1}: {one_line(tab.title)}"
                yield words, partial(app.run_action, f"screen.show_session({number})")

    def _run(self, action: Action) -> Any:
        return partial(self.app.run_action, action.click)


def _shown(action: Action, title: Content) -> Content:
    """The title, then its key and its slash command."""
    keys = [key_name(key) for key in action.shown[:1]] + ([f"/{action.slash}"] if action.slash else [])
    return title if not keys else Content.assemble(title, "  ", ("  ".join(keys), "$text-muted"))


def themes_of(app: Host) -> list[tuple[str, Any]]:
    """Every theme with what puts it on."""
    return [(name, partial(app.choose_theme, name)) for name in app.theme_names()]
