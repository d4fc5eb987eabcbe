"""Screens that listened to the app are let go when they are gone.

Textual holds whoever listens until it has something to tell them: a theme that never changes keeps every dialog of the
day, with all it shows.
"""

from __future__ import annotations

from textual.app import App
from textual.dom import DOMNode
from textual.signal import Signal, SignalCallbackType
from textual.theme import Theme


class ThemeSignal(Signal[Theme]):
    """Says that the theme has changed. Whenever somebody else begins to listen, those that are gone are forgotten."""

    def subscribe(self, node: DOMNode, callback: SignalCallbackType[Theme], immediate: bool = False) -> None:
        """Call ``callback`` with each theme from now on, as long as ``node`` is on the screen."""
        for known in list(self._subscriptions):
            if not known.is_running:
                self.unsubscribe(known)
        owner = self.owner
        if isinstance(owner, App):
            _forget_watchers(owner)
        super().subscribe(node, callback, immediate)


def _forget_watchers(app: App[object]) -> None:
    """The same for those that watch what the app says of itself."""
    for listening in getattr(app, "__watchers", {}).values():
        listening[:] = [(node, callback) for node, callback in listening if node.is_running]
