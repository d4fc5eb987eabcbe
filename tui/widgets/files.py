"""The files pane: what was written and what was read, as of what is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from tui.look import Look, clip, one_line
from tui.widgets.pane import Pane

if TYPE_CHECKING:
    from engine.state import TaskState


SHOWN = 50
"""Files of each kind that are listed; the head counts all."""


class FilesPane(Pane):
    TITLE = "FILES"

    def head(self, width: int) -> Text:
        if self.state is None or not (self.state.files_written or self.state.files_read):
            return Text()
        written, read = len(self.state.files_written), len(self.state.files_read)
        return Text(f"{written} written · {read} read", style=self.look.roles.muted)

    def body(self, width: int) -> list[Text]:
        return file_lines(self.state, width, self.look)


def file_lines(state: TaskState | None, width: int, look: Look) -> list[Text]:
    """Written files first, then those that were only read; the newest of each first. The end of a path stays."""
    if state is None or not (state.files_written or state.files_read):
        return [clip(Text(" no file touched yet", style=look.roles.muted), width)]
    changed = set(state.files_written)
    read = [path for path in state.files_read if path not in changed]
    room = width - 8
    lines = [
        Text.assemble((" wrote  ", look.roles.warn), _path(path, room, look)) for path in _newest(state.files_written)
    ]
    lines += [Text.assemble((" read   ", look.roles.muted), _path(path, room, look)) for path in _newest(read)]
    return lines


def _newest(paths: Sequence[str]) -> Sequence[str]:
    return paths[-SHOWN:][::-1]


def _path(path: str, width: int, look: Look) -> Text:
    name = Text(one_line(path))
    if name.cell_len <= width:
        return name
    tail = list(name.plain)
    while tail and Text("".join(tail)).cell_len > max(0, width - 1):
        tail.pop(0)
    return Text(look.signs.ellipsis + "".join(tail))
