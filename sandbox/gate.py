"""The gate: nothing runs that it has not let through. Rules first, then what is harmless, then a person, else no.

The order: a stored deny rule; low risk; a stored allow rule; what a person granted for this session; in mode
``sandboxed`` what the sandbox holds entirely; then mode ``ask`` asks, ``sandboxed`` too where somebody can be asked,
and every other mode denies. Mode ``deny`` takes no allow rules either. Without walls (no sandbox works here) every
command is asked about, whatever the rules say.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from enum import StrEnum

from sandbox.approval import Answer, ApprovalRequest, Asker, Choice
from sandbox.risk import Risk
from sandbox.rulebook import RuleBook
from sandbox.rules import Rule, RuleError, admits, forbids, parse_rule


class Mode(StrEnum):
    """What to do when the gate would ask."""

    ASK = "ask"
    DENY = "deny"
    RULES = "rules"
    SANDBOXED = "sandboxed"


class Gate:
    """Decides for one session. ``walls``: whether a sandbox really contains what runs. ``timeout`` in seconds."""

    def __init__(self, mode: str, book: RuleBook, asker: Asker | None, timeout: float, *, walls: bool) -> None:
        self.mode = Mode(mode)
        self.timeout = timeout
        self._book = book
        self._asker = asker
        self._walls = walls
        self._granted: list[Rule] = []
        self._granted_exactly: set[tuple[str, str]] = set()

    async def decide(self, request: ApprovalRequest, by_person: bool = False) -> Answer:
        """ONCE, SESSION, RULE or EDIT let it through, DENY does not. ``by`` names who or what decided.

        by_person: a person typed it themselves, which is a yes within the walls; a rule of theirs that forbids it
        holds all the same."""
        settled, trouble = self.foresee(request)
        if settled is not None:
            return settled
        if by_person:
            if self._walls:
                return self._yes(request, "person")
            return self._no(request, "mode", "no sandbox works here, and commands you type run only inside one")
        if not self._asks:
            return self._no(request, "mode", self._why_denied(request, trouble))
        if self._asker is None:
            return self._no(request, "mode", "a person would have to approve this, and nobody can be asked here")
        if trouble:
            reasons = (*request.assessment.reasons, trouble)
            request = replace(request, assessment=replace(request.assessment, reasons=reasons))
        return await self._ask(request, self._asker)

    @property
    def _asks(self) -> bool:
        """Whether a person is asked about what nothing else has settled."""
        return self.mode is Mode.ASK or (self.mode is Mode.SANDBOXED and self._asker is not None)

    def foresee(self, request: ApprovalRequest) -> tuple[Answer | None, str]:
        """The answer as far as it needs no person, and what is wrong with the stored rules, if anything."""
        try:
            rules, trouble = self._book.rules(), ""
        except (RuleError, OSError) as error:
            rules, trouble = (), f"the stored rules cannot be read, so none applies: {error}"
        if denying := forbids(rules, request.kind, request.subject):
            return self._no(request, "rule", f"a stored rule forbids it: {denying.text}"), trouble
        risk, command = request.assessment.risk, request.kind == "command"
        if risk is Risk.LOW and (self._walls or not command):
            return self._yes(request, "low"), trouble
        if (self._walls or not command) and not request.env_names:
            if self.mode is not Mode.DENY and (rule := admits(rules, request.kind, request.subject, risk)):
                return self._yes(request, "rule", rule.text), trouble
            if self._is_granted(request):
                return self._yes(request, "session"), trouble
        if self.mode is Mode.SANDBOXED and self._walls and request.assessment.contained and risk < Risk.HIGH:
            return self._yes(request, "contained"), trouble
        return None, trouble

    async def _ask(self, request: ApprovalRequest, asker: Asker) -> Answer:
        try:
            answer = await asyncio.wait_for(asker.ask(request), self.timeout)
        except TimeoutError:
            return self._no(request, "timeout", f"nobody answered within {self.timeout:g} s, which means no")
        if answer.digest != request.digest:
            return self._no(request, answer.by, "the answer was given for something else")
        if answer.choice is Choice.EDIT and (request.kind != "command" or not answer.command.strip()):
            return self._no(request, answer.by, "an edit needs a command")
        if answer.choice is Choice.SESSION:
            self._grant(request)
        if answer.choice is Choice.RULE:
            return self._store(request, answer)
        return answer

    def _store(self, request: ApprovalRequest, answer: Answer) -> Answer:
        """Keep the rule a person confirmed; one that cannot be read or kept must not pass for a yes for ever."""
        text = answer.rule.strip() or request.rule
        if not text:
            return replace(answer, choice=Choice.ONCE, reason="no rule is offered for it; allowed once")
        try:
            rule = self._book.add(text, request.subject, request.assessment.risk)
        except RuleError as error:
            return self._no(request, answer.by, f"the rule was not stored, so nothing ran: {error}")
        except OSError as error:
            reason = f"allowed once; the rule could not be stored: {error.strerror or error}"
            return replace(answer, choice=Choice.ONCE, reason=reason)
        return replace(answer, rule=rule.text)

    def _grant(self, request: ApprovalRequest) -> None:
        """Remember for this session: what the suggested rule covers, or the very same line where there is none."""
        if request.rule:
            self._granted.append(parse_rule(request.rule, request.assessment.risk))
        else:
            self._granted_exactly.add((request.kind, request.subject))

    def inherit(self, other: Gate) -> None:
        """Take over what a person allowed for the session that this one goes on for."""
        self._granted += other._granted
        self._granted_exactly |= other._granted_exactly

    def _is_granted(self, request: ApprovalRequest) -> bool:
        exact = (request.kind, request.subject) in self._granted_exactly
        return exact or admits(self._granted, request.kind, request.subject, request.assessment.risk) is not None

    def _why_denied(self, request: ApprovalRequest, trouble: str) -> str:
        risk = request.assessment.risk.word
        if trouble:
            return f"{risk} risk, and {trouble}"
        if not self._walls and request.kind == "command":
            return "no sandbox works here, so every command needs a person's yes, and nobody is asked in this run"
        known = {
            Mode.DENY: "this run only allows what reads",
            Mode.RULES: "no stored rule allows it, and nobody is asked in this run",
            Mode.SANDBOXED: "the sandbox does not hold all of it, and nobody is asked in this run",
        }
        return f"{risk} risk: {known[self.mode]}"

    @staticmethod
    def _yes(request: ApprovalRequest, by: str, rule: str = "") -> Answer:
        return Answer(Choice.ONCE, request.digest, by=by, rule=rule)

    @staticmethod
    def _no(request: ApprovalRequest, by: str, reason: str) -> Answer:
        return Answer(Choice.DENY, request.digest, by=by, reason=reason)
