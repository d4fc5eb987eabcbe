"""Everything a person can do, in one table: key bindings, palette, slash commands, help and the last line read it.

An action is a method ``action_<name>`` of the workbench screen (``place`` screen), of the app (``place`` app, works
everywhere) or a key some widget handles itself (``place`` widget: listed, not bound).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which keys are of use now. ``focus``: composer, transcript, task, todo, cache, approvals, tools or
    nothing; ``pending`` and ``waiting``: messages queued, requests that wait for a person; ``elsewhere``: requests that
    wait in other sessions."""

    running: bool = False
    focus: str = "composer"
    pending: int = 0
    waiting: int = 0
    narrow: bool = False
    editing: bool = False
    elsewhere: int = 0
    paused: bool = False
    plan: bool = False

    @property
    def typing(self) -> bool:
        return self.focus == "composer"


# Keys a person chose instead of an action's own, by its name; filled once, when the app starts (see `tui.keymap`).
CHOSEN: dict[str, tuple[str, ...]] = {}

BESIDE = ("task", "todo", "cache", "approvals", "tools")
"""Where one can be beside the transcript."""

Test = Callable[[Situation], bool]


def _always(_: Situation) -> bool:
    return True


def _never(_: Situation) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Action:
    """``keys``: Textual's names, the first is shown. ``hint``: the word on the last line, shown when ``when`` holds.
    ``typed``: further keys that count only while nothing is being typed. ``slash``: the command after ``/``.
    ``argument``: what may follow it, for people. ``listed``: whether the palette offers it. ``first``: its key counts
    before whatever has the focus sees it, so that what is typed after it goes where it leads. ``pair``: its first two
    keys belong together, to and fro, and are shown together."""

    name: str
    title: str
    group: str
    keys: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    hint: str = ""
    when: Test = _never
    slash: str = ""
    argument: str = ""
    place: Literal["screen", "app", "widget"] = "screen"
    call: str = ""
    listed: bool = True
    first: bool = False
    pair: bool = False

    @property
    def label(self) -> str:
        """The key as the last line shows it; '' when it has none."""
        return " ".join(key_name(key) for key in self.shown[: 1 + self.pair])

    @property
    def shown(self) -> tuple[str, ...]:
        """The keys that do it now: a person's own where they chose some."""
        return CHOSEN.get(self.name, self.keys + self.typed)

    @property
    def click(self) -> str:
        """The action string that does it, '' for what a widget does itself."""
        if self.place == "widget":
            return ""
        return f"{self.place}.{self.call or self.name}"


TALK, SEE, DECIDE, SESSION, APP = "Talk to the agent", "Look around", "Decide", "Sessions", "The app"

ACTIONS: tuple[Action, ...] = (
    Action("send", "Send the message", TALK, ("enter",), hint="send", place="widget", listed=False,
           when=lambda s: s.typing and not s.running),
    Action("steer", "Steer: say it now, the agent reads it after the running tool", TALK, ("enter",), hint="steer",
           when=lambda s: s.typing and s.running, place="widget", listed=False),
    Action("follow_up", "Queue a follow-up for when this run is done", TALK, ("alt+enter",), hint="follow up",
           when=lambda s: s.typing and s.running, place="widget", listed=False),
    Action("save_todo", "Save the edited todo list", TALK, ("ctrl+s",), hint="save", place="widget", listed=False,
           when=lambda s: s.editing),
    Action("take_back", "Take the newest waiting message back", TALK, ("alt+up",), hint="take back",
           when=lambda s: s.pending > 0, slash="undo"),
    Action("interrupt", "Interrupt, asking first where something could be left half done; twice: stop",
           TALK, ("escape",), hint="interrupt", when=lambda s: s.running and not s.editing, slash="stop"),
    Action("queue", "What waits to be said: edit it, order it, take it back", TALK, ("f12",), hint="queue",
           when=lambda s: s.pending > 0, slash="queue"),
    Action("pause", "Pause before the next turn; paused: go on", TALK, ("f8",), hint="go on",
           when=lambda s: s.paused, slash="pause"),
    Action("step", "One turn, then paused again", TALK, ("f9",), hint="step", when=lambda s: s.paused, slash="step"),
    Action("go_on", "Go on after a pause", TALK, slash="go"),
    Action("plan", "The plan that waits: read it, edit it, approve or reject it", DECIDE, ("f10",), hint="plan",
           when=lambda s: s.plan, slash="plan"),
    Action("reject_plan", "Reject the plan that waits and say why", DECIDE, slash="reject", argument="REASON",
           call="plan"),
    Action("compose", "Type a message", TALK, typed=("i",), hint="type", when=lambda s: not s.typing and not s.editing),
    Action("search_said", "Search what you said before, here and in other folders", TALK, ("ctrl+r",)),
    Action("edit_todo", "Edit todo.md", TALK, hint="", slash="todo"),
    Action("edit_todo_here", "Edit todo.md in the todo pane", TALK, typed=("e",), hint="edit", place="widget",
           when=lambda s: s.focus == "todo" and not s.editing, listed=False),
    Action("answer", "Answer what waits for you", DECIDE, ("ctrl+g",), hint="answer", slash="answer",
           when=lambda s: s.waiting + s.elsewhere > 0),
    Action("waiting_session", "Go to the session that waits for you", DECIDE, ("alt+g",), hint="go to it", first=True,
           when=lambda s: s.elsewhere > 0),
    Action("cycle_approve", "Change the mode: ask, contained, plan; /approve takes rules and deny too", DECIDE,
           ("shift+tab",), hint="mode", when=_always, slash="approve", argument="ask|contained|plan|rules|deny"),
    Action("select", "Select a block: the one above, the one below", SEE, typed=("left_square_bracket",
           "right_square_bracket"), hint="select", place="widget", listed=False, pair=True,
           when=lambda s: s.focus == "transcript"),
    Action("unfold", "Unfold the selected block, show more of it, fold it", SEE, typed=("enter",), hint="unfold",
           place="widget", listed=False, when=lambda s: s.focus == "transcript"),
    Action("find", "Search the transcript; n and N go on", SEE, typed=("slash",), hint="search", slash="find",
           argument="TEXT", when=lambda s: s.focus == "transcript"),
    Action("copy", "Copy the selected block, or the last thing said", SEE, typed=("y",), hint="copy", slash="copy",
           when=lambda s: s.focus == "transcript"),
    Action("copy_part", "Copy a part of it: the command, the output, the diff", SEE, typed=("Y",)),
    Action("open_place", "Open a file that is named there in your editor", SEE, typed=("o",), hint="open file",
           when=lambda s: s.focus == "transcript", slash="open"),
    Action("next_pane", "Go to the next pane", SEE, ("tab",), hint="panes", when=_always, listed=False),
    Action("jump", "Jump: letters on everything in sight, typing them goes there", SEE, ("f7",), place="app"),
    Action("tab_transcript", "Show the transcript", SEE, ("alt+1",), ("1",), call="tab('transcript')"),
    Action("tab_task", "Show the task", SEE, ("alt+2",), ("2",), call="tab('task')"),
    Action("tab_todo", "Show the todo list", SEE, ("alt+3",), ("3",), call="tab('todo')"),
    Action("tab_cache", "Show the cache", SEE, ("alt+4",), ("4",), call="tab('cache')"),
    Action("tab_approvals", "Show the approvals", SEE, ("alt+5",), ("5",), call="tab('approvals')"),
    Action("tab_tools", "Show the tools", SEE, ("alt+6",), ("6",), call="tab('tools')"),
    Action("hide_pane", "Put the pane you are in away; its number brings it back", SEE, typed=("h",), hint="hide",
           when=lambda s: s.focus in BESIDE and not s.narrow and not s.editing),
    Action("toggle_beside", "Put everything beside the transcript away, or back", SEE, ("alt+0",), ("0",)),
    Action("widen", "Widen the column beside the transcript", SEE, typed=("less_than_sign",), hint="wider",
           call="resize_column(1)", when=lambda s: s.focus in BESIDE and not s.narrow and not s.editing),
    Action("slim", "Make the column beside the transcript narrower", SEE, typed=("greater_than_sign",), hint="narrower",
           call="resize_column(-1)", when=lambda s: s.focus in BESIDE and not s.narrow and not s.editing),
    Action("raise_pane", "Give the pane you are in more lines", SEE, typed=("plus",), call="resize_pane(1)"),
    Action("lower_pane", "Give the pane you are in fewer lines; the todo list gets them", SEE, typed=("minus",),
           call="resize_pane(-1)"),
    Action("reset_panes", "Put all panes back, as wide and as high as they were at first", SEE),
    Action("inspector", "Inspect what was sent to the model, and what of it was cached", SEE, ("f2",),
           hint="inspector", when=_always, slash="inspect"),
    Action("replay", "Replay this session", SESSION, ("f3",), hint="replay", when=lambda s: not s.running,
           slash="replay"),
    Action("rewind", "Go back: the conversation, the files, or both", SESSION, ("f4",), hint="go back", slash="rewind"),
    Action("sessions", "Open another session", SESSION, ("ctrl+o",), hint="sessions", when=lambda s: not s.running,
           slash="sessions"),
    Action("new_session", "Start a new session beside this one", SESSION, ("ctrl+n",), slash="new", first=True),
    Action("next_session", "Go to the next session", SESSION, ("ctrl+pagedown",), first=True),
    Action("previous_session", "Go to the session before", SESSION, ("ctrl+pageup",), first=True),
    Action("close_session", "Close this session; it can be opened again", SESSION, slash="close"),
    Action("rename", "Give the session another title", SESSION, slash="title", argument="TEXT"),
    Action("change_model", "Change the model", SESSION, slash="model", argument="PROVIDER/MODEL"),
    Action("change_limits", "Change the limits of the run", SESSION, slash="limits",
           argument="turns=N calls=N tokens=N cost=USD seconds=N"),
    Action("done_when", "Say when the task is done, as code can check it", SESSION, slash="done",
           argument="CONDITION|off"),
    Action("compactions", "Look at the compactions: before and after, what each fact became, undo", SEE,
           slash="compactions"),
    Action("compact", "Compact the conversation now", SESSION, slash="compact",
           argument="FOCUS|auto|off"),
    Action("memory", "What is remembered from session to session", SESSION, ("f5",), slash="memory"),
    Action("uncompact", "Take the newest compaction back", SESSION, slash="uncompact"),
    Action("refresh_prompt", "Render the prompt anew with today's tools, skills and rules", SESSION, slash="refresh"),
    Action("settings", "Settings: every value, where it comes from, and the keys", APP, ("f6",), slash="settings"),
    Action("change_theme", "Change the colours", APP, slash="theme", argument="NAME", place="app"),
    Action("setup", "Setup: models found, sandbox, colours", APP, slash="setup"),
    Action("trust", "Trust the project files of this folder, or take it back", APP, slash="trust"),
    Action("quit", "Quit; what runs is interrupted and saved", APP, ("ctrl+q",), slash="quit", place="app"),
    Action("command_palette", "All actions", APP, ("ctrl+p",), hint="palette", when=_always, place="app",
           listed=False),
    Action("help", "Keys and commands", APP, ("f1",), ("question_mark",), hint="help", when=_always, slash="help",
           place="app"),
)  # fmt: skip

BY_NAME = {action.name: action for action in ACTIONS}
BY_SLASH = {action.slash: action for action in ACTIONS if action.slash}
APPROVE_MODES = ("ask", "sandboxed", "plan", "rules", "deny")
CYCLED = APPROVE_MODES[:3]
"""The modes Shift+Tab goes through."""
MODE_WORDS = {
    "ask": "every risky operation waits for you",
    "sandboxed": "what the sandbox fully contains runs unasked, the rest asks you",
    "plan": "the agent only reads, and ends with a plan for you to approve or reject",
    "rules": "your stored rules decide, the rest is denied",
    "deny": "whatever would ask is denied",
}

NAMES = {
    "escape": "Esc",
    "question_mark": "?",
    "slash": "/",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "enter": "Enter",
    "tab": "Tab",
    "up": "Up",
    "down": "Down",
    "left": "Left",
    "right": "Right",
    "space": "Space",
    "delete": "Del",
    "backspace": "Backspace",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "home": "Home",
    "end": "End",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "comma": ",",
    "full_stop": ".",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
}


def key_name(key: str) -> str:
    """A key as people read it: ``Ctrl+P``, ``Alt+Up``, ``?``, ``F3``."""
    *held, last = key.split("+")
    name = NAMES.get(last, last.upper() if held or (len(last) in (2, 3) and last[0] == "f") else last)
    return "+".join([*(h.capitalize() for h in held), name])


def hints(situation: Situation) -> list[Action]:
    """What the last line offers, in the order of the table; help comes last."""
    return [action for action in ACTIONS if action.hint and action.shown and action.when(situation)]


def bindings(place: Literal["screen", "app"]) -> list[BindingType]:
    """Textual bindings of the actions of a place. Those of the app work over every screen, dialogs included."""
    made: list[BindingType] = []
    for action in ACTIONS:
        if action.place != place:
            continue
        call = action.call or action.name
        # A key that can be typed must reach whoever is being typed into first, so it never has priority.
        always = ",".join(action.keys)
        typed = ",".join(action.typed)
        if always:
            made.append(
                Binding(always, call, action.title, show=False, priority=place == "app" or action.first, id=action.name)
            )
        if typed:
            # The id is what a person's own keys go by: they take the place of all an action has.
            made.append(Binding(typed, call, action.title, show=False, id=action.name))
    return made


def slash_commands() -> list[tuple[str, str]]:
    """``(command, what may follow and what it does)`` for the composer's completion."""
    return [(action.slash, _titled(action)) for action in ACTIONS if action.slash]


def _titled(action: Action) -> str:
    return f"{action.argument}  {action.title}" if action.argument else action.title


def next_mode(mode: str) -> str:
    """The approve mode after ``mode``, round and round."""
    at = CYCLED.index(mode) if mode in CYCLED else -1
    return CYCLED[(at + 1) % len(CYCLED)]
