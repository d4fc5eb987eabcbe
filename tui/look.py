"""What a pure view needs to know about the terminal and the theme: the colours by role and the signs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.style import Style
from rich.text import Text

from tui.roles import Roles
from tui.signs import Signs

if TYPE_CHECKING:
    from engine.state import TaskState

STAGE_ROLES = {
    "thinking": "agent",
    "running tools": "tool",
    "waiting for you": "warn",
    "plan waits for you": "warn",
    "retrying": "warn",
    "paused": "warn",
    "finished": "ok",
    "limit": "warn",
    "interrupted": "warn",
    "denied": "warn",
    "failed": "danger",
    "no_model": "danger",
    "not open": "danger",
}


STAGE_SIGNS = {
    "thinking": "running",
    "running tools": "running",
    "waiting for you": "waits",
    "plan waits for you": "waits",
    "retrying": "waits",
    "paused": "paused",
    "finished": "done",
    "limit": "paused",
    "interrupted": "paused",
    "denied": "paused",
    "failed": "failed",
    "no_model": "failed",
    "not open": "failed",
}


@dataclass(frozen=True, slots=True)
class Look:
    roles: Roles = field(default_factory=Roles)
    signs: Signs = field(default_factory=Signs)

    def standing(self, state: TaskState) -> tuple[str, Style]:
        """Where a session stands as sign and words, and their style: a run that ended in a plan is not done with."""
        return self.stage("plan waits for you" if state.plan and not state.running else state.stage)

    def stage(self, stage: str) -> tuple[str, Style]:
        """A stage of the task state as sign and words, and its style."""
        words = {"limit": "stopped at a limit", "no_model": "no model"}.get(stage, stage)
        style: Style = getattr(self.roles, STAGE_ROLES.get(stage, "muted"))
        sign = STAGE_SIGNS.get(stage, "")
        return (f"{getattr(self.signs, sign)} {words}" if sign else words), style


def spread(left: Text, right: Text, width: int, ellipsis: str = "…") -> Text:
    """One line of ``width`` cells with ``left`` cut to make room for all of ``right``, which gives way last."""
    right = clip(right, width, ellipsis)
    room = width - right.cell_len
    left = clip(left, max(0, room - 1 if right.cell_len else room), ellipsis)
    return Text.assemble(left, " " * max(0, width - left.cell_len - right.cell_len), right, no_wrap=True, end="")


def clip(text: Text, width: int, ellipsis: str = "…") -> Text:
    """``text`` cut to ``width`` cells; a cut is shown."""
    if text.cell_len <= width:
        return text
    cut = text.copy()
    if width <= 1:
        cut.truncate(max(0, width))
        return cut
    cut.truncate(width - 1)
    cut.append(ellipsis)
    return cut


_CONSOLE = Console(width=80, color_system=None, force_terminal=False)


def wrapped(text: str, width: int, most: int, ellipsis: str = "…") -> list[str]:
    """``text`` in at most ``most`` lines of ``width`` cells, broken at spaces; a cut is shown."""
    lines = [line.plain.rstrip() for line in Text(one_line(text)).wrap(_CONSOLE, max(2, width))]
    if len(lines) > most:
        last = f"{lines[most - 1]} {lines[most]}"
        lines = [*lines[: most - 1], clip(Text(last), width, ellipsis).plain.rstrip()]
        lines[-1] = lines[-1] if lines[-1].endswith(ellipsis) else lines[-1] + ellipsis
    return lines or [""]


def one_line(text: str, limit: int = 400) -> str:
    """``text`` on one line: runs of white space become one space, control characters their pictures."""
    joined = " ".join(text[:limit].split())
    return "".join(c if c.isprintable() or c == "\u200d" else "\N{SYMBOL FOR SUBSTITUTE}" for c in joined)


def homely(path: str) -> str:
    """A path on one line, the home folder as ``~``."""
    home = str(Path.home())
    return one_line("~" + path[len(home) :] if path == home or path.startswith(home + "/") else path)


def bar(share: float, width: int, look: Look, mark: float | None = None) -> Text:
    """A gauge of ``width`` cells filled to ``share`` (0 to 1); ``mark`` is drawn as a thin line at its share."""
    width = max(0, width)
    share = min(1.0, max(0.0, share))
    filled = min(width, max(1 if share > 0 else 0, round(share * width)))
    role = look.roles.danger if share >= 0.9 else look.roles.warn if share >= 0.75 else look.roles.accent
    text = Text()
    text.append(look.signs.gauge * filled, Style(color=role.color))
    text.append(look.signs.gauge_rest * (width - filled), look.roles.faint)
    if mark is not None and 0 < mark < 1 and width:
        at = min(width - 1, int(mark * width))
        text = Text.assemble(text[:at], (look.signs.mark, look.roles.text), text[at + 1 :])
    return text


def columns(values: list[int], width: int, top: int, look: Look) -> str:
    """The last ``width`` of ``values`` as a row of small bars on the scale 0 to ``top``; nothing is drawn as a dot."""
    steps = look.signs.steps
    shown = values[-width:] if width > 0 else []
    return "".join(
        look.signs.todo if value <= 0 else steps[min(len(steps) - 1, value * len(steps) // max(1, top + 1))]
        for value in shown
    )
