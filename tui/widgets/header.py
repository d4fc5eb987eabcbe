"""The first line: which session, where, with which model and mode, and what it is doing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text
from textual.widget import Widget

from tui.format import approve_mode
from tui.look import Look, clip, one_line, spread

if TYPE_CHECKING:
    from engine.state import TaskState

ENOUGH = 30
NO_TITLE = "new session"


class Header(Widget):
    """``approve`` and ``model`` as asked for on the command line stand until the engine says what they are."""

    def __init__(self, look: Look, folder: Path, *, model: str = "", approve: str = "", id: str = "header") -> None:
        super().__init__(id=id)
        self.look = look
        self.folder = short_folder(folder)
        self.branch = ""
        self.state: TaskState | None = None
        self._model, self._approve = model, approve

    def show(self, state: TaskState) -> None:
        """Take the newest task state."""
        self.state = state
        if state.cwd:
            self.folder = short_folder(Path(state.cwd))
        self.refresh()

    def show_branch(self, branch: str) -> None:
        """Take the name of the branch, once it was read."""
        self.branch = branch
        self.refresh()

    def dress(self, look: Look) -> None:
        self.look = look
        self.refresh()

    def render(self) -> Text:
        return header_line(self.state, self.folder, self.branch, self._model, self._approve, self.size.width, self.look)


def header_line(
    state: TaskState | None, folder: str, branch: str, model: str, approve: str, width: int, look: Look
) -> Text:
    """Title, folder and branch on the left; model, approve mode, turn and stage on the right, which gives way last."""
    roles = look.roles
    said, style = look.standing(state) if state else ("starting", roles.muted)
    mode = approve_mode((state.approve if state else approve) or "ask")
    facts = [short_model(state.model if state else model), mode]
    if state and state.paused and state.stage != "paused":
        facts.append(f"{look.signs.paused} pause")
    if state and state.turn:
        facts.append(f"turn {state.turn}")
    right = Text(" · ".join(fact for fact in facts if fact) + " · ", style=roles.muted)
    right = Text.assemble(right, (said, style), " ")
    if right.cell_len > width * 2 // 3:
        right = Text.assemble((f"{facts[1]} · ", roles.muted), (said, style), " ")
    title = Text(f" {one_line(state.title) if state and state.title else NO_TITLE}", style=roles.text)
    title.stylize("bold")
    where = Text.assemble((f"   {one_line(folder)}", roles.muted))
    if branch:
        where.append(f"  {one_line(branch)}", roles.tool)
    room = max(0, width - right.cell_len - 3)
    if title.cell_len + where.cell_len > room:
        # The folder is the same all day, the title is not: half a folder says nothing, so it goes first.
        where = where if room - where.cell_len >= ENOUGH else Text()
        title = clip(title, room - where.cell_len, look.signs.ellipsis)
    return spread(Text.assemble(title, where), right, width, look.signs.ellipsis)


def short_folder(folder: Path) -> str:
    """The folder below ``~`` when it is there."""
    try:
        below = folder.relative_to(Path.home())
    except (ValueError, RuntimeError):
        return str(folder)
    return "~" if str(below) == "." else f"~/{below}"


def short_model(spec: str) -> str:
    """A model without its provider, and a file without its folders."""
    name = one_line(spec).partition("/")[2] or one_line(spec)
    return name.rpartition("/")[2] or name


def read_branch(folder: Path) -> str:
    """The branch checked out in ``folder`` or above, from ``.git/HEAD``; '' where there is none. Reads two small files
    at most."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_file():
                pointed = _head(git).removeprefix("gitdir:").strip()
                git = (place / pointed) if pointed else git
            if not git.is_dir():
                continue
            head = _head(git / "HEAD")
        except OSError:
            return ""
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:8]
    return ""


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(1024).decode("utf-8", "replace").strip()
