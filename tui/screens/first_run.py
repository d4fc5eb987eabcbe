"""First run: what was found on this machine, how to connect a model, colours with a live preview, Enter to start."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

import themes
from engine.queries import ProveSandbox, SandboxProof, Survey, SurveyResult
from tui.look import Look, one_line

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from tui.host import Host

LABEL = 9
NAME = 13
SPEC = 28
MODELS = 5
HINTS = 100
"""From how many columns on what to do stands beside what is missing; `agent-tui models` says it anywhere."""
SCRIPTED = "script/"
"""Models that play a file are no finding: the last line offers one, and what is used is said anyway."""
PROMISE = "You see everything, you decide what is risky, nothing is lost."

PROVES = "p tries it"
PROVING = "real attacks are being tried: some seconds"

ABREAST = 60
"""Cells of a line with several short facts: what stands beside the labels in 80 columns."""

CONNECT = (
    ("with a key", "set ANTHROPIC_API_KEY or OPENAI_API_KEY"),
    ("to a server", "agent-tui --model openai-chat/NAME --base-url URL"),
    ("to your own", "run Ollama, LM Studio, llama-server or vLLM"),
)


class FirstRunScreen(Screen[str | None]):
    """Dismisses with ``start``, ``demo`` or None."""

    CSS_PATH = themes.stylesheet("first_run")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "start", "Start"),
        Binding("d", "demo", "Try it now with no model"),
        Binding("p", "prove", "Try what the sandbox holds"),
        Binding("right", "theme(1)", "Other colours"),
        Binding("left", "theme(-1)", "Other colours", show=False),
        Binding("escape", "close", "Back"),
    ]

    def __init__(self, app: Host) -> None:
        super().__init__()
        self._bench = app
        self._names = app.theme_names()
        self._found: SurveyResult | None = None
        self._trouble = ""
        self._proof: SandboxProof | str = PROVES
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

    async def _prove(self) -> None:
        try:
            self._proof = await self._bench.ask(ProveSandbox())
        except Exception as error:
            self._proof = f"nothing could be tried: {one_line(str(error)) or type(error).__name__}"
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        look = self._bench.look
        hints = self.size.width >= HINTS
        page = first_run_page(self._found, self._trouble, self._proof, self._bench.theme, look, hints=hints)
        self.query_one("#first-run-text", Static).update(page)
        self.query_one("#first-run-keys", Static).update(keys_text(look))

    def action_start(self) -> None:
        self.dismiss("start")

    def action_prove(self) -> None:
        """Only when asked: some of it is tried bare, which a machine's guardians may take amiss."""
        if self._proof != PROVING:
            self._proof = PROVING
            self._draw()
            self.run_worker(self._prove(), group="proof")

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


def first_run_page(
    found: SurveyResult | None, trouble: str, proof: SandboxProof | str, theme: str, look: Look, *, hints: bool
) -> Table:
    """The whole page: what it is about on the left, what was found on the right."""
    page = Table.grid(padding=(0, 2, 0, 0), expand=True)
    page.add_column(width=LABEL)
    page.add_column()
    bold = Style(bold=True)
    page.add_row(Text("agent-tui", style=look.roles.accent + bold), Text(PROMISE, style=look.roles.text))
    for label, lines in (
        ("models", _models(found, trouble, look, hints)),
        ("connect", [Text.assemble((f"{name:<{NAME}}", look.roles.tool), words) for name, words in CONNECT]),
        ("sandbox", _sandbox(found, proof, look)),
        ("colours", _preview(theme, look)),
    ):
        page.add_row()
        for number, line in enumerate(lines):
            page.add_row(Text("" if number else label, style=look.roles.muted + bold), line)
    return page


def _models(found: SurveyResult | None, trouble: str, look: Look, hints: bool) -> list[Text]:
    roles, signs = look.roles, look.signs
    if found is None:
        sign, words = (signs.failed, f"could not look: {trouble}") if trouble else (signs.waits, "looking around")
        return [Text(f"{sign} {words}", style=roles.muted)]
    lines = []
    models = [model for model in found.models if not model.spec.startswith(SCRIPTED)]
    for model in sorted(models, key=lambda m: not m.usable)[:MODELS]:
        sign, style, name = (
            (signs.done, roles.ok, roles.text) if model.usable else (signs.todo, roles.muted, roles.muted)
        )
        missing = (model.why, model.hint if hints else "")
        said = model.source if model.usable else ". ".join(word for word in missing if word)
        spec = f"{one_line(model.spec):<{SPEC}} "
        lines.append(_kept_whole(Text.assemble((f"{sign} ", style), (spec, name), (one_line(said), roles.muted))))
    if len(models) > MODELS:
        more = f"{signs.todo} {len(models) - MODELS} more: agent-tui models lists them"
        lines.append(_kept_whole(Text(more, style=roles.muted)))
    chosen = (one_line(found.chosen), roles.accent)
    lines.append(Text.assemble(("will use ", roles.muted), chosen, (f"  {one_line(found.why)}", roles.muted)))
    return lines


def _kept_whole(line: Text) -> Text:
    """A line that is cut at the edge: what is wrapped in a list cannot be told from the next entry."""
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _sandbox(found: SurveyResult | None, proof: SandboxProof | str, look: Look) -> list[Text]:
    roles, signs = look.roles, look.signs
    if found is None:
        return [Text("not known yet", style=roles.muted)]
    if found.sandbox_works:
        words = f"{one_line(found.sandbox)}: commands run contained, without a network"
        works = Text.assemble((f"{signs.done} ", roles.ok), words)
        if proof == PROVES:
            key, _, what = proof.partition(" ")
            return [works.append(f"   {key}", roles.accent).append(f" {what}", roles.muted)]
        return [works, *_proved(proof, look)]
    why = f"not here: {one_line(found.sandbox_why).rstrip('.')}. Every command asks first."
    lines = [Text.assemble((f"{signs.risk} ", roles.warn), why)]
    if found.sandbox_hint:
        lines.append(Text(one_line(found.sandbox_hint), style=roles.muted))
    return lines if proof == PROVES else [*lines, *_proved(proof, look)]


def _proved(proof: SandboxProof | str, look: Look) -> list[Text]:
    """How the lines of defence stood when they were tried, each with its sign; or why that is not known."""
    roles, signs = look.roles, look.signs
    if isinstance(proof, str):
        return [Text(proof, style=roles.muted)]
    shown = {"enforced": (signs.done, roles.ok), "partly": (signs.risk, roles.warn)}
    enforced = sum(state == "enforced" for _, state in proof.lines)
    count = f"{enforced} of {len(proof.lines)} lines of defence hold, by attacks just tried"
    lines = [Text(count + ("" if enforced == len(proof.lines) else ": agent-tui doctor says more"), roles.muted)]
    for name, state in proof.lines:
        sign, style = shown.get(state, (signs.failed, roles.danger))
        one = Text.assemble((f"{sign} ", style), name if state == "enforced" else f"{name} ({state})")
        if len(lines) > 1 and lines[-1].cell_len + 2 + one.cell_len <= ABREAST:
            lines[-1].append("  ").append_text(one)
        else:
            lines.append(one)
    return lines


def _preview(theme: str, look: Look) -> list[Text]:
    """What the roles look like, so that the choice is made with eyes."""
    roles, signs = look.roles, look.signs
    calls = (
        (signs.done, roles.ok, "fs_read", "212 lines"),
        (signs.failed, roles.danger, "shell_run", "1 failed"),
        (signs.waits, roles.warn, "fs_edit", "waits for you"),
    )
    return [
        Text.assemble(("< ", roles.muted), (theme, roles.accent), (" >", roles.muted)),
        Text.assemble((f"{signs.bar}you    ", roles.you), "Fix the login test and tell me why it broke."),
        Text.assemble((f"{signs.bar}agent  ", roles.agent), "The user is read before the cookie is parsed."),
        *(
            Text.assemble((f"{s} ", style), (f"{name:<11}", roles.tool), (words, roles.muted))
            for s, style, name, words in calls
        ),
    ]
