"""What the workbench remembers of a person's words: they are found again by Up and by searching, and a draft that was
not sent is there at the next start."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    from engine.said import Recalled, Said
    from tui.host import Host
    from tui.keeping import Keeping
    from tui.screens.sheet import Sheet
    from tui.session_tabs import Tab

    Base = Screen[None]
else:
    Base = object


class SaidActions(Base):
    """Mixed into the workbench screen, which provides ``bench``, ``composer`` and ``keeping``."""

    bench: Host
    composer: Any
    keeping: Keeping
    sheet: Sheet
    sheets: dict[Tab, Sheet]
    _taken = ""
    _kept: Recalled | None = None
    _file: Said | None = None

    @property
    def remembers(self) -> bool:
        """Whether the person wants it kept."""
        return self.bench.ui_settings.history

    @property
    def said(self) -> Said:
        """Where it is kept; made when it is first needed, after the first frame."""
        if self._file is None:
            from engine.said import Said

            self._file = Said(self.bench.home.state, self.bench.options.cwd.absolute())
        return self._file

    async def recall_said(self) -> None:
        """Take up what was said in earlier apps, and the draft; where one is being typed by now, Up finds the other."""
        if not self.remembers:
            return
        kept = self._kept = await asyncio.to_thread(lambda: self.said.load())
        for sheet in self.sheets.values():
            self.give_past(sheet.composer)
        self._taken = kept.draft
        if self.composer.text:
            self.on_composer_drafted()
        elif kept.draft:
            self.composer.set_text(kept.draft)
            self.bench.say("What you had not sent is here again. Ctrl+C clears it.")

    def give_past(self, composer: Any) -> None:
        """Let what was said before be found in a composer, the draft last."""
        if (kept := self._kept) is not None:
            composer.recall((*kept.here, kept.draft) if kept.draft else kept.here, kept.elsewhere)

    def on_composer_said(self, message: Any) -> None:
        if self._kept is not None:
            self._kept = replace(self._kept, here=(*self._kept.here, message.text))
        if self.remembers:
            self.keeping.do(partial(self.said.add, message.text))

    def keep_draft(self) -> None:
        """On leaving: what was typed and not sent."""
        if self.remembers:
            self.keeping.do(partial(self.said.keep_draft, self._draft, self._taken))

    def on_composer_drafted(self) -> None:
        """Somebody paused while typing: what stands there by now outlives even an app that is killed."""
        if self.remembers and self._kept is not None:
            draft = self._draft
            self.keeping.do(partial(self.said.keep_typed, draft, self._taken))
            self._taken = draft

    @property
    def _draft(self) -> str:
        """The draft of the session that is shown, or else that of another one."""
        drafts = (sheet.composer.text for sheet in (self.sheet, *self.sheets.values()))
        return next((text for text in drafts if text.strip()), "")

    def action_search_said(self) -> None:
        self.composer.search()
