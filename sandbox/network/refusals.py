"""What is not let out, as an exception that says which rule refused and what to do."""

from __future__ import annotations


class Refused(Exception):
    """A connection or request that is not let out.

    rule: short name of the rule, for the record. reason and advice: sentences for a person or the model. status: the
    HTTP status it is answered with.
    """

    def __init__(self, rule: str, reason: str, advice: str = "", status: int = 403) -> None:
        super().__init__(f"{rule}: {reason}" + (f"; {advice}" if advice else ""))
        self.rule = rule
        self.reason = reason
        self.advice = advice
        self.status = status


class Unreachable(Refused):
    """Allowed, but it could not be reached or did not answer properly."""


def malformed(reason: str, *, rule: str = "request", status: int = 400) -> Refused:
    """A message that could be read in more than one way, or in none."""
    return Refused(rule, reason, "send a plain, well-formed request", status)
