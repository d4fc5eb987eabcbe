"""What a person can do in the context inspector: bindings, the last line and help read this."""

from __future__ import annotations

from tui.actions import Action

SEE, GO, LEAVE = "See", "Go to", "Leave"


def _act(name: str, title: str, group: str, *keys: str, hint: str = "", call: str = "") -> Action:
    return Action(name, title, group, keys, hint=hint, call=call)


INSPECTOR: tuple[Action, ...] = (
    _act("request_back", "The request before", GO, "left", hint="request", call="request(-1)"),
    _act("request_on", "The next request; after the newest, what was sent since", GO, "right", call="request(1)"),
    _act("break_on", "The next request that broke the cache", GO, "n", hint="next break", call="break(1)"),
    _act("break_back", "The request before that broke the cache", GO, "p", hint="previous", call="break(-1)"),
    _act("bytes", "The bytes of the chosen row, and where they differ", SEE, "v", "enter", hint="bytes"),
    _act("fold", "Every block, or those in the cache folded", SEE, "f", hint="fold"),
    _act("back", "Back", LEAVE, "escape", "q", "f2", hint="back"),
    _act("keys", "All keys", LEAVE, "question_mark", hint="keys"),
)

BYTES: tuple[Action, ...] = (
    _act("difference", "To the first difference", GO, "n", hint="difference"),
    _act("back", "Back", LEAVE, "escape", "q", "v", hint="back"),
    _act("keys", "All keys", LEAVE, "question_mark", hint="keys"),
)
