"""What the gate would say to a command, without running or asking anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sandbox.approval import ApprovalRequest, Choice
from sandbox.classify import classify
from sandbox.gate import Gate, Mode
from sandbox.policy import Network, Policy
from sandbox.risk import Assessment
from sandbox.rulebook import RuleBook


@dataclass(frozen=True, slots=True)
class Preview:
    """``decision``: allow, ask or deny; ``by``: what decides (low, rule, contained, mode, or person)."""

    assessment: Assessment
    decision: str
    by: str


def preview(
    commands: Iterable[str], policy: Policy, book: RuleBook, *, mode: str = "ask", walls: bool = True
) -> Iterator[Preview]:
    """One Preview a command. ``walls``: whether a sandbox works here. Raises ValueError for an unknown mode."""
    gate = Gate(mode, book, None, 0.0, walls=walls)
    held = walls and policy.network is Network.OFF
    for command in commands:
        found = classify(command, workspace=policy.workspace)
        assessment = found if held else replace(found, contained=False)
        settled, _ = gate.foresee(ApprovalRequest("", "", "command", command, ".", policy.name, assessment))
        if settled is not None:
            yield Preview(assessment, "deny" if settled.choice is Choice.DENY else "allow", settled.by)
        elif gate.mode is Mode.ASK:
            yield Preview(assessment, "ask", "person")
        else:
            yield Preview(assessment, "deny", "mode")
