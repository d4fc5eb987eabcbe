"""First run: what was found on this machine, how to connect a model, colours with a live preview, Enter to start."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

import themes
from engine.queries import Survey, SurveyResult
from tui.look import Look, one_line

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.app import WorkbenchApp

LABEL = 12
MODELS = 8

CONNECT = (
    ("a key", "export ANTHROPIC_API_KEY=…   or   export OPENAI_API_KEY=…   then start again"),
    ("a server", "agent-tui --model openai-chat/NAME --base-url http://127.0.0.1:8080/v1"),
    ("on this machine", "Ollama, LM Studio, llama-server and vLLM are found when they run"),
)


class FirstRunScreen(Screen[str | None]):
    """Dismisses with ``start``, ``demo`` or None."""

    CSS_PATH = themes.stylesheet("first_run")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "Start"),
        Binding("d", "demo", "Try it now with no model"),
        Binding("right", "theme(1)", "Other colours"),
        Binding("left", "theme(-1)", "Other colours", show=False),
        Binding("escape", "close", "Back"),
    ]

    def __init__(self, app: WorkbenchApp) -> None:
        super().__init__()
        self._bench = app
        self._names = app.theme_names()
        self._found: SurveyResult | None = None
        self._trouble = ""
        self._theme_before = app.theme

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="first-run"):
            yield Static(id="first-run-text")
        yield Static(id="first-run-keys")

    def on_mount(self) -> None:
        self.query_one("#first-run").focus()
        self._bench.theme_changed_signal.subscribe(self, lambda _: self._draw())
        self._draw()
        self.run_worker(self._survey(), exclusive=True)

    async def _survey(self) -> None:
        try:
            self._found = await self._bench.ask(Survey())
        except Exception as error:
            # Whatever the engine could not find out, a person can still read how to connect a model.
            self._trouble = one_line(str(error)) or type(error).__name__
        self._draw()

    def _draw(self) -> None:
        look = self._bench.look
        text = first_run_text(self._found, self._trouble, self._bench.theme, look)
        self.query_one("#first-run-text", Static).update(text)
        self.query_one("#first-run-keys", Static).update(keys_text(look))

    def action_start(self) -> None:
        self.dismiss("start")

    def action_demo(self) -> None:
        self.dismiss("demo")

    def action_close(self) -> None:
        self._bench.theme = self._theme_before
        self.dismiss(None)

    def action_theme(self, step: int) -> None:
        at = self._names.index(self._bench.theme) if self._bench.theme in self._names else 0
        self._bench.theme = self._names[(at + step) % len(self._names)]


def keys_text(look: Look) -> Text:
    """The last line."""
    line = Text(" ")
    for key, words in (("Enter", "start"), ("d", "try it now with no model"), ("←→", "colours"), ("Esc", "back")):
        line.append(key, look.roles.accent)
        line.append(f" {words}   ", look.roles.muted)
    return line


def first_run_text(found: SurveyResult | None, trouble: str, theme: str, look: Look) -> Text:
    """The whole page."""
    page = Text()
    page.append("agent-tui\n", look.roles.accent)
    page.stylize("bold")
    page.append("You see everything the agent does, you decide what is risky, nothing is lost.\n", look.roles.text)
    _heading(page, "Models", look)
    _models(page, found, trouble, look)
    _heading(page, "Connect one", look)
    for label, words in CONNECT:
        _row(page, label, words, look)
    _heading(page, "Sandbox", look)
    _sandbox(page, found, look)
    _heading(page, "Colours", look)
    _preview(page, theme, look)
    return page


def _heading(page: Text, words: str, look: Look) -> None:
    page.append(f"\n{words}\n", look.roles.muted)
    page.stylize("bold", len(page) - len(words) - 1)


def _row(page: Text, label: str, words: str, look: Look) -> None:
    page.append(f"  {label:<{LABEL + 4}}", look.roles.tool)
    page.append(f"{words}\n", look.roles.text)


def _models(page: Text, found: SurveyResult | None, trouble: str, look: Look) -> None:
    if found is None:
        words = f"could not look: {trouble}" if trouble else "looking for keys and servers"
        page.append(f"  {look.signs.failed if trouble else look.signs.waits} {words}\n", look.roles.muted)
        return
    for model in sorted(found.models, key=lambda m: not m.usable)[:MODELS]:
        sign, style = (look.signs.done, look.roles.ok) if model.usable else (look.signs.todo, look.roles.muted)
        page.append(f"  {sign} ", style)
        page.append(f"{one_line(model.spec):<30} ", look.roles.text if model.usable else look.roles.muted)
        said = model.source if model.usable else ". ".join(w for w in (model.why, model.hint) if w)
        page.append(f"{one_line(said)}\n", look.roles.muted)
    page.append("  will use ", look.roles.muted)
    page.append(one_line(found.chosen), look.roles.accent)
    page.append(f"  {one_line(found.why)}\n", look.roles.muted)


def _sandbox(page: Text, found: SurveyResult | None, look: Look) -> None:
    if found is None:
        page.append("  not known yet\n", look.roles.muted)
    elif found.sandbox_works:
        page.append(f"  {look.signs.done} ", look.roles.ok)
        page.append(f"{one_line(found.sandbox)}: commands run contained, without a network\n", look.roles.text)
    else:
        page.append(f"  {look.signs.risk} ", look.roles.warn)
        page.append(f"not here: {one_line(found.sandbox_why)}. Every command asks first.\n", look.roles.text)
        if found.sandbox_hint:
            page.append(f"    {one_line(found.sandbox_hint)}\n", look.roles.muted)


def _preview(page: Text, theme: str, look: Look) -> None:
    """What the roles look like, so that the choice is made with eyes."""
    roles, signs = look.roles, look.signs
    page.append("  ‹ ", roles.muted)
    page.append(theme, roles.accent)
    page.append(" ›\n\n", roles.muted)
    page.append(f"  {signs.bar}you    ", roles.you)
    page.append("Fix the login test and tell me why it broke.\n", roles.text)
    page.append(f"  {signs.bar}agent  ", roles.agent)
    page.append("The test reads the user before the cookie is parsed.\n", roles.text)
    for sign, style, name, words in (
        (signs.done, roles.ok, "fs_read", "212 lines"),
        (signs.failed, roles.danger, "shell_run", "1 failed"),
        (signs.waits, roles.warn, "fs_edit", "waits for you"),
    ):
        page.append(f"  {sign} ", style)
        page.append(f"{name:<10}", roles.tool)
        page.append(f"{words}\n", roles.muted)
