"""What a person can do in the context inspector: bindings, the last line and help read this."""

from __future__ import annotations

from tui.actions import Action

SEE, GO, DO, LEAVE = "See", "Go to", "Do", "Leave"


def _act(name: str, title: str, group: str, *keys: str, hint: str = "", call: str = "") -> Action:
    return Action(name, title, group, keys, hint=hint, call=call)


INSPECTOR: tuple[Action, ...] = (
    _act("request_back", "The request before", GO, "left", hint="request", call="request(-1)"),
    _act("request_on", "The next request; after the newest, what was sent since", GO, "right", call="request(1)"),
    _act("break_on", "The next request that broke the cache", GO, "n", hint="next break", call="break(1)"),
    _act("break_back", "The request before that broke the cache", GO, "p", hint="previous", call="break(-1)"),
    _act("bytes", "The bytes of the chosen row, and where they differ", SEE, "v", "enter", hint="bytes"),
    _act("fold", "Every block, or those in the cache folded", SEE, "f", hint="fold"),
    _act("compactions", "The compactions of this session", SEE, "c", hint="compactions"),
    _act("costs", "What this session would have cost on other models", SEE, "s", hint="costs elsewhere"),
    _act("back", "Back", LEAVE, "escape", "q", "f2", hint="back"),
    _act("keys", "All keys", LEAVE, "question_mark", hint="keys"),
)

BYTES: tuple[Action, ...] = (
    _act("difference", "To the first difference", GO, "n", hint="difference"),
    _act("back", "Back", LEAVE, "escape", "q", "v", hint="back"),
    _act("keys", "All keys", LEAVE, "question_mark", hint="keys"),
)

COMPACTIONS: tuple[Action, ...] = (
    _act("pane", "Between the list and what is said of the chosen one", GO, "tab", hint="list, text"),
    _act("back", "Back", LEAVE, "escape", "q", "c", hint="back"),
    _act("keys", "All keys", LEAVE, "question_mark", hint="keys"),
)

STEER: tuple[Action, ...] = (
    _act("undo", "Take the newest compaction in force back; asks once", DO, "u", hint="undo"),
    _act("automatic", "Compact by itself when the window fills, or only when asked", DO, "a", hint="automatic"),
    _act("now", "Compact now, and say what to keep above all", DO, "n", hint="compact now"),
)

COSTS: tuple[Action, ...] = (
    _act("back", "Back", LEAVE, "escape", "q", "s", hint="back"),
    _act("keys", "All keys", LEAVE, "question_mark", hint="keys"),
)
