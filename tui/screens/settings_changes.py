"""Changing what the settings screen lists: in a list, by a switch, in a line of text, or with a key."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.screen import Screen

from tui.actions import ACTIONS, MODE_WORDS, Action, key_name
from tui.keymap import refusal, written
from tui.settings.rows import AT_ONCE, NEXT_SESSION, Entry, value_words

if TYPE_CHECKING:
    from engine.settings_keys import Value
    from engine.settings_shown import SettingsShown
    from tui.host import Ask, Host

    Base = Screen[None]
else:
    Base = object

OTHER = "another"


class SettingChanges(Base):
    """Mixed into the settings screen, which lists the entries and reads them again after each change."""

    ask: Ask
    found: SettingsShown | None
    all: tuple[Entry, ...]

    def __init__(self) -> None:
        super().__init__()
        # Writes in the order they were asked for; what is on the way counts already for the next press of a switch.
        self._turn = asyncio.Lock()
        self._under_way: dict[str, Value] = {}

    @property
    def bench(self) -> Host:
        raise NotImplementedError

    @property
    def chosen(self) -> Entry | None:
        raise NotImplementedError

    async def read(self) -> None:
        """Read the settings again and show them."""
        raise NotImplementedError

    def tell(self, words: str, *, warn: bool = False) -> None:
        """Say something about the last change."""
        raise NotImplementedError

    def action_open(self) -> None:
        raise NotImplementedError

    def action_edit(self) -> None:
        entry = self.chosen
        if entry is None:
            return
        if entry.problem is not None:
            self.action_open()
        elif not entry.editable:
            self.tell(next((words for label, words in entry.facts if label == "change"), ""), warn=True)
        elif entry.action is not None:
            self._press(entry, entry.action)
        elif entry.row is not None and entry.row.switch:
            self._write(entry.key, not self._under_way.get(entry.key, entry.row.value))
        elif entry.key == "model":
            self.run_worker(self._offer_models(entry), group="models", exclusive=True)
        elif choices := self._choices(entry):
            self._choose(entry, choices)
        else:
            self._type(entry)

    def _choices(self, entry: Entry) -> list[tuple[str, str]]:
        if entry.key == "theme":
            return [(name, "") for name in self.bench.theme_names()]
        names = entry.row.choices if entry.row else ()
        return [(name, MODE_WORDS.get(name, "") if entry.key == "approve" else "") for name in names]

    def _choose(self, entry: Entry, choices: list[tuple[str, str]]) -> None:
        from tui.screens.choose import Choose

        def done(name: str | None) -> None:
            if name is not None:
                self._write(entry.key, name)

        is_theme = entry.key == "theme"
        present = self.bench.theme if is_theme else entry.value
        tried = self.bench.put_on if is_theme else None
        self.app.push_screen(Choose(f"{entry.name}: {entry.meaning}", choices, present, tried), done)

    async def _offer_models(self, entry: Entry) -> None:
        """Those that can be used on this machine now, and a line to write another."""
        from engine.queries import Survey
        from tui.screens.choose import Choose

        self.tell("looking for models")
        found = await self.bench.try_ask(Survey())
        self.tell("")
        usable = [(model.spec, model.source) for model in found.models if model.usable] if found else []
        if not usable or self.app.screen is not self:
            self._type(entry)
            return

        def done(name: str | None) -> None:
            if name == OTHER:
                self._type(entry)
            elif name is not None:
                self._write(entry.key, name)

        choices = [*usable, (OTHER, "write it as provider/model")]
        self.app.push_screen(Choose(f"{entry.name}: {entry.meaning}", choices, entry.value), done)

    def _type(self, entry: Entry) -> None:
        from engine.settings import SettingError, known_key
        from tui.screens.ask_text import AskText

        def wrong(text: str) -> str:
            try:
                if text:
                    known_key(entry.key).read(text)
            except SettingError as error:
                return str(error)
            return ""

        def done(text: str | None) -> None:
            if text is not None:
                self._write(entry.key, known_key(entry.key).read(text) if text else None)

        may_be = entry.row.may_be if entry.row else ""
        help = f"{may_be}; nothing: the default. Counts {AT_ONCE if entry.row and entry.row.at_once else NEXT_SESSION}."
        title = f"{entry.name}: {entry.meaning}"
        self.app.push_screen(
            AskText(title, entry.mine or entry.value, help[0].upper() + help[1:], wrong, at_once=True), done
        )

    def _press(self, entry: Entry, action: Action) -> None:
        from tui.screens.press_key import PressKey

        wanted = {name: keys for name, (keys, _) in self.found.keys.items()} if self.found else {}

        def wrong(key: str) -> str:
            return refusal(action.name, key, wanted, ACTIONS)

        def done(key: str | None) -> None:
            if key is not None:
                self._write(entry.key, written(key))

        self.app.push_screen(PressKey(action.title, entry.value, wrong), done)

    def action_restore(self) -> None:
        """The default counts again: the person's own value leaves their file."""
        entry = self.chosen
        if entry is None or not entry.editable:
            return
        if entry.mine:
            self._write(entry.key, None)
        else:
            self.tell(f"{entry.name}: your file does not set it")

    def _write(self, name: str, value: Value) -> None:
        self._under_way[name] = value
        self.run_worker(self._store(name, value), group="write")

    async def _store(self, name: str, value: Value) -> None:
        from engine.queries import WriteSetting

        async with self._turn:
            try:
                await self.ask(WriteSetting(name, value))
            except Exception as error:
                self._under_way.pop(name, None)
                self.tell(str(error) or type(error).__name__, warn=True)
                return
            await self.read()
            if self._under_way.get(name) == value:
                del self._under_way[name]
        entry = next((entry for entry in self.all if entry.key == name and entry.problem is None), None)
        self.tell(_outcome(name, value, entry))


def _outcome(name: str, value: Value, entry: Entry | None) -> str:
    """What was kept and when it counts, or why it does not count yet."""
    shown = name.removeprefix("keys.")
    if value is None:
        what = f"{shown}: your file does not set it any more"
    else:
        what = f"{shown} = {key_name(str(value)) if name.startswith('keys.') else value_words(value)}"
    if entry is None or not entry.facts:
        return what
    if entry.note or (value is None and entry.source not in ("default", "your file")):
        return f"{what}, but {entry.source} is stronger: it says {entry.value or 'nothing'}"
    return f"{what}, {dict(entry.facts).get('counts', AT_ONCE)}"
