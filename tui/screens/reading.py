"""What a person takes out of the transcript: text to the clipboard, files to their editor."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from tui.editor import open_file
from tui.format import plural

if TYPE_CHECKING:
    from tui.host import Host


class Reading(Screen[None]):
    """A mixin for the workbench: expects ``transcript`` and ``bench``."""

    transcript: Any

    @property
    def bench(self) -> Host:
        raise NotImplementedError

    async def show_picture(self, message: Any) -> None:
        """Ask for the picture that somebody unfolded; it is decoded where its session's tools run."""
        from engine.queries import PictureShown, ShowPicture

        query = ShowPicture(self.bench.link.session, message.path, message.columns, message.rows)
        shown = await self.bench.try_ask(query)
        message.transcript.show_artifact(message.call, shown or PictureShown(error="the engine could not answer"))

    def action_copy(self) -> None:
        """The selected block, or the last thing said: its likeliest part."""
        parts = self._parts()
        if not parts:
            self.bench.say("There is nothing to copy yet. [ and ] select a block.")
        else:
            self._copy(*parts[0])

    def action_copy_part(self) -> None:
        """Choose what of the block to copy."""
        parts = self._parts()
        if len(parts) < 2:
            self.action_copy()
            return
        choices: list[Any] = [
            (f"{what} ({plural(len(text), 'character')})", partial(self._copy, what, text)) for what, text in parts
        ]
        self.bench.search_commands(choices, placeholder="Copy")

    def action_open_place(self) -> None:
        """Open a file the block names in the person's own editor."""
        text = "\n".join(text for _, text in self._parts())
        self.run_worker(self._offer(text), group="places", exclusive=True)

    def _parts(self) -> tuple[tuple[str, str], ...]:
        from tui.transcript.parts import parts_of

        block, whole = self.transcript.at_hand() if self.transcript else (None, "")
        return parts_of(block, whole) if block is not None else ()

    def _copy(self, what: str, text: str) -> None:
        self.run_worker(self._put(what, text), group="copy")

    async def _put(self, what: str, text: str) -> None:
        """Only a program that took the text is a reason to say "copied"; what a terminal does nobody can tell."""
        from engine.desk import keep

        program, file = await asyncio.to_thread(keep, text, self.bench.home)
        if program:
            self.bench.say(f"Copied the {what} to the clipboard ({program}).")
            return
        self.bench.copy_to_clipboard(text)
        where = f" It is also in {file}." if file else ""
        self.bench.say(f"Offered the {what} to the terminal's clipboard, which may not take it.{where}")

    async def _offer(self, text: str) -> None:
        from engine.desk import places

        state = self.bench.link.state
        folder = Path(state.cwd) if state and state.cwd else self.bench.options.cwd
        found = await asyncio.to_thread(places, text, folder)
        if not found:
            self.bench.say("No file that exists is named here. [ and ] select a block.")
        elif len(found) == 1:
            open_file(self.bench, *found[0])
        else:
            choices: list[Any] = [
                (_place(path, line, folder), partial(open_file, self.bench, path, line)) for path, line in found
            ]
            self.bench.search_commands(choices, placeholder="Open in the editor")


def _place(path: Path, line: int, folder: Path) -> str:
    shown = path.relative_to(folder) if path.is_relative_to(folder) else path
    return f"{shown}:{line}" if line else str(shown)
