"""What an approval says, as lines: head, what runs, the facts about it, the keys. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from tui.dialogs.exact import Ink, concerns, exact_lines, flowing
from tui.dialogs.parts import shortened
from tui.diff import row_lines, stat_text
from tui.look import homely, one_line, spread
from tui.transcript.look import UNDERLINE, Look

if TYPE_CHECKING:
    from engine.events import ApprovalRequested
    from tui.dialogs.approval_parts import Part

Lines = list[list[Segment]]

LABEL = 9
INDENT = 2
HURRY = 30
"""Seconds left from which the countdown is a warning."""

KEYS = (
    ("y", "once", "once", "once"),
    ("s", "this session", "session", "session"),
    ("a", "always…", "always…", "rule"),
    ("n", "deny", "deny", "no"),
    ("d", "deny and say why", "say why", "why"),
    ("e", "edit", "edit", "edit"),
)


def ink(look: Look) -> Ink:
    """How exact text looks: the dangerous part underlined, so that it shows without colour too."""
    roles = look.roles
    marked = Style(color=roles.danger.color, bold=True) + UNDERLINE
    return Ink(roles.text, marked, Style(color=roles.warn.color, reverse=True), ascii=look.signs.bar.isascii())


def risk_word(risk: str, look: Look) -> Text:
    """The risk as sign, word and colour."""
    signs, roles = look.signs, look.roles
    word, style = {
        "high": ("HIGH risk", roles.danger),
        "medium": ("medium risk", roles.warn),
        "low": ("low risk", roles.ok),
    }[risk]
    return Text(f"{signs.todo if risk == 'low' else signs.risk} {word}", style)


def head(request: ApprovalRequested, width: int, look: Look) -> Text:
    """One line: who asks, where, how risky."""
    roles = look.roles
    left = Text.assemble((one_line(request.tool or request.kind), roles.tool + Style(bold=True)))
    if request.diff:
        left.append(f"  {stat_text(request.diff)}", roles.text)
    left.append("  in ", roles.muted)
    left.append(homely(request.cwd), roles.text)
    return spread(left, risk_word(request.risk, look), width, look.signs.ellipsis)


def what(request: ApprovalRequested, part: Part, width: int, look: Look) -> Lines:
    """What runs, exactly; for an edit the path and the diff."""
    lines: Lines = []
    if part.subject is not None:
        exact = exact_lines(part.subject, width - INDENT, ink(look), look.roles.muted, request.spots, part.within)
        lines = [[Segment(" " * INDENT), *line] for line in exact]
    if part.rows:
        lines += [[]] if lines else []
        lines += row_lines(part.rows, part.frame, width, look)
    return lines


def facts(request: ApprovalRequested, width: int, look: Look, whose: str = "") -> Lines:
    """What is known about it: a label and its words, in lines. ``whose`` names the session, where several could ask."""
    roles = look.roles
    calm = Ink(roles.text, odd=Style(reverse=True), ascii=look.signs.bar.isascii())
    risk = Ink({"high": roles.danger, "medium": roles.warn}.get(request.risk, roles.text), odd=calm.odd)
    alarm = Ink(roles.danger, odd=calm.odd, ascii=calm.ascii)
    said: list[tuple[str, str, Ink]] = [("session", one_line(whose), calm)] if whose else []
    said += [("careful", words, alarm) for words in concerns(request.subject)]
    said += [("would", effect, calm) for effect in request.effects]
    said += [("risk", reason, risk) for reason in request.reasons]
    if request.executable:
        said.append(("runs", _program(request, look), calm))
    if request.env_names:
        said.append(("env", ", ".join(request.env_names), calm))
    held = calm if request.contained else Ink(roles.warn, odd=calm.odd)
    said.append(("where", _where(request), held))
    lines: Lines = []
    before = ""
    for label, words, style in said:
        for number, line in enumerate(flowing(shortened(words), max(8, width - LABEL), style)):
            shown = "" if number or label == before else label
            lines.append([Segment(f"{shown:<{LABEL}}", roles.muted), *line])
        before = label
    return lines


def _program(request: ApprovalRequested, look: Look) -> str:
    sha256 = request.sha256
    digest = f"{sha256[:4]}{look.signs.ellipsis}{sha256[-4:]}" if len(sha256) > 12 else sha256
    facts = (request.executable, f"sha256 {digest}" if digest else "", request.origin)
    return "  ".join(fact for fact in facts if fact)


def _where(request: ApprovalRequested) -> str:
    policy = f"; policy {request.policy}" if request.policy else ""
    if request.contained:
        return f"the sandbox holds all of it: this workspace, no network{policy}"
    return f"the sandbox cannot hold all of it{policy}"


def keys(request: ApprovalRequested, width: int, look: Look) -> list[Text]:
    """The choices, in as many lines as they need; shorter words where there is little room."""
    for words in (1, 2, 3):
        lines = _key_lines([(key[0], key[words]) for key in KEYS], request, width, look)
        if len(lines) == 1:
            return lines
    return _key_lines([(key[0], "") for key in KEYS], request, width, look)


def _key_lines(pairs: Sequence[tuple[str, str]], request: ApprovalRequested, width: int, look: Look) -> list[Text]:
    lines = [Text()]
    for key, words in pairs:
        if key == "e" and request.kind != "command":
            continue
        off = key == "a" and not request.rule
        word = Text.assemble((key, look.roles.muted if off else look.roles.accent + Style(bold=True)))
        if words:
            word.append(f" {'no rule fits' if off else words}", look.roles.muted)
        room = width - lines[-1].cell_len - (3 if words else 1)
        if lines[-1].cell_len and word.cell_len > room:
            lines.append(Text())
        if lines[-1].cell_len:
            lines[-1].append("   " if words else " ")
        lines[-1].append_text(word)
    return lines


def countdown(left: float, width: int, look: Look, said: str = "", escape: str = "Esc later") -> Text:
    """The last line: how long there is to answer. What was just ``said`` to the person takes its place for a while."""
    seconds = max(0, round(left))
    clock = f"{seconds // 60}:{seconds % 60:02}"
    style = look.roles.warn if seconds <= HURRY else look.roles.muted
    if said:
        return spread(Text(said, look.roles.accent), Text(clock, style), width, look.signs.ellipsis)
    words = f"no answer in {clock} means deny"
    if len(words) > width:
        return Text(f"{clock} deny"[: max(0, width)], style)
    right = Text(escape, look.roles.muted) if len(words) + len(escape) + 2 < width else Text()
    return spread(Text(words, style), right, width, look.signs.ellipsis)


def time_left(request: ApprovalRequested, now: datetime | None = None) -> float:
    """Seconds until no answer means deny. A request without a time of its own has just come."""
    if request.at.timestamp() == 0:
        return request.expires_in
    passed = ((now or datetime.now(UTC)) - request.at).total_seconds()
    return min(request.expires_in, max(0.0, request.expires_in - passed))
