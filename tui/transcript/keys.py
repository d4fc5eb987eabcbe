"""The transcript's own keys, when it has the focus."""

from __future__ import annotations

from textual.binding import Binding, BindingType


def _hidden(keys: str, action: str, description: str, display: str | None = None) -> Binding:
    return Binding(keys, action, description, key_display=display, show=False)


BINDINGS: list[BindingType] = [
    _hidden("up,k", "scroll_lines(-1)", "Line up"),
    _hidden("down,j", "scroll_lines(1)", "Line down"),
    _hidden("pageup", "scroll_pages(-1)", "Page up"),
    _hidden("pagedown", "scroll_pages(1)", "Page down"),
    _hidden("home", "go_to_start", "To the beginning"),
    _hidden("end", "go_to_end", "To the end, and follow it"),
    _hidden("left_square_bracket", "select(-1)", "Select the block above", "["),
    _hidden("right_square_bracket", "select(1)", "Select the block below", "]"),
    _hidden("enter", "open", "Unfold, show more, fold"),
    _hidden("space", "fold", "Unfold or fold"),
    _hidden("z", "fold_all", "Unfold or fold everything"),
    _hidden("n", "find(1)", "Next match"),
    _hidden("N", "find(-1)", "Previous match"),
    _hidden("u", "jump('user', 1)", "Next message of yours"),
    _hidden("U", "jump('user', -1)", "Previous message of yours"),
    _hidden("t", "jump('agent', 1)", "Next words of the agent"),
    _hidden("T", "jump('agent', -1)", "Previous words of the agent"),
    _hidden("c", "jump('tool', 1)", "Next call"),
    _hidden("C", "jump('tool', -1)", "Previous call"),
    _hidden("d", "jump('edit', 1)", "Next edit"),
    _hidden("D", "jump('edit', -1)", "Previous edit"),
    _hidden("a", "jump('approval', 1)", "Next approval"),
    _hidden("A", "jump('approval', -1)", "Previous approval"),
    _hidden("x", "jump('error', 1)", "Next error"),
    _hidden("X", "jump('error', -1)", "Previous error"),
]
