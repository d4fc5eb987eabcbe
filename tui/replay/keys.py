"""What a person can do in the player and in the list of sessions: bindings, the last line and help read these."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text
from textual.binding import Binding, BindingType

from tui.actions import Action, key_name
from tui.look import Look
from tui.widgets.keys import fitted, hint

WATCH, GO, LEAVE = "Watch", "Go to", "Leave"


def _act(name: str, title: str, group: str, *keys: str, hint: str = "", call: str = "") -> Action:
    return Action(name, title, group, keys, hint=hint, call=call)


PLAYER: tuple[Action, ...] = (
    _act("play", "Play, or pause", WATCH, "space", hint="play"),
    _act("event_on", "One event on", GO, "right", call="step(1)"),
    _act("event_back", "One event back", GO, "left", hint="event", call="step(-1)"),
    _act("turn_on", "To the next turn", GO, "shift+right", "full_stop", call="go('turn', 1)"),
    _act("turn_back", "To the turn before", GO, "shift+left", "comma", hint="turn", call="go('turn', -1)"),
    _act("approval_on", "To the next approval", GO, "n", hint="approval", call="go('approval', 1)"),
    _act("approval_back", "To the approval before", GO, "N", call="go('approval', -1)"),
    _act("panes", "Between the transcript and the panes", WATCH, "tab", hint="panes", call="panes"),
    _act("back", "Back", LEAVE, "escape", "q", hint="back"),
    _act("error_on", "To the next error, denial or interruption", GO, "x", hint="error", call="go('error', 1)"),
    _act("error_back", "To the error, denial or interruption before", GO, "X", call="go('error', -1)"),
    _act("user_on", "To your next message", GO, "u", hint="you", call="go('user', 1)"),
    _act("user_back", "To your message before", GO, "U", call="go('user', -1)"),
    _act("start", "To the beginning", GO, "home", call="start"),
    _act("end", "To the end", GO, "end", call="end"),
    _act("faster", "Faster: up to 32 times real time", WATCH, "plus", "equals_sign", hint="speed", call="speed(1)"),
    _act("slower", "Slower: down to real time", WATCH, "minus", call="speed(-1)"),
    _act("inspect", "Inspect what was sent to the model in this turn", WATCH, "f2", "i", hint="inspect"),
    _act("resume", "Go on with this session in the workbench", LEAVE, "o", hint="continue"),
    _act("keys", "All keys", LEAVE, "question_mark", hint="keys"),
)

PAIRS = {
    "event_back": "←→",
    "turn_back": "⇧←→",
    "approval_on": "n N",
    "faster": "+ -",
    "request_back": "←→",
    "later": "Alt+↑↓",
}
"""What the last line shows for two keys at once; plain terminals get their names."""

TENTHS: list[BindingType] = [
    Binding(str(digit), f"tenth({digit})", f"To {digit} tenths of it", show=False, priority=True)
    for digit in range(1, 10)
]


def sessions_actions(enter: str) -> tuple[Action, ...]:
    """Keys of the list, where Enter does ``open`` or ``play``; the other has a letter of its own."""
    opens, plays = ("enter",) if enter == "open" else (), ("enter",) if enter == "play" else ()
    main = _act("open", "Go on with this session", LEAVE, *opens, "o", "ctrl+enter", hint="continue")
    play = _act("play", "Play this session again", WATCH, *plays, "p", hint="play")
    return (
        *((main, play) if enter == "open" else (play, main)),
        _act("search", "Search in titles and in all that was said", GO, "slash", "ctrl+f", hint="search"),
        _act("folder", "Sessions of this folder, or of all folders", GO, "f", hint="folder"),
        _act("reload", "Read the list again", GO, "r", "f5"),
        _act("back", "Back; while searching, end the search", LEAVE, "escape", hint="back"),
        _act("keys", "All keys", LEAVE, "question_mark", hint="keys"),
    )


def hint_line(actions: Iterable[Action], width: int, look: Look) -> Text:
    """The last line: as many of the actions with a hint as fit, the way to all keys always."""
    plain = look.signs.rule.isascii()
    shown = [action for action in actions if action.hint]
    names = [key_name(act.keys[0]) if plain else PAIRS.get(act.name, key_name(act.keys[0])) for act in shown]
    parts = [hint(name, act.hint, act.click, look) for name, act in zip(names, shown, strict=True)]
    return fitted(parts, width)


def bound(actions: Iterable[Action], priority: bool = False) -> list[BindingType]:
    """The actions as bindings of a screen. With ``priority`` the focused widget's own keys come second."""
    return [
        Binding(key, action.call or action.name, action.title, show=False, priority=priority)
        for action in actions
        for key in action.keys
    ]
