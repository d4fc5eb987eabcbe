"""A request to a person and their answer: what the gate asks and what may come back.

The digest binds a decision to exactly what runs: argv, cwd, environment names, policy and the files touched.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from sandbox.risk import Assessment


class Choice(StrEnum):
    """What a person may answer. ``RULE`` stores ``Answer.rule``; ``EDIT`` runs ``Answer.command`` instead."""

    ONCE = "once"
    SESSION = "session"
    RULE = "rule"
    DENY = "deny"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """Everything a person needs to decide.

    kind: "command", "write" or "read". subject: the whole command line, or the path of a file operation.
    tool: name of the tool that asks. rule: the rule text an "always" would store, empty where none is offered.
    executable, sha256, origin: real path and digest of the program that would run, when it is a single plain
    command, and who installed it in words.
    env_names: names (never values) of the environment variables set for the call.
    wx: programs that may map memory writable and executable (see Policy.wx).
    diff: unified diff of an edit. expires_in: seconds until no answer means deny.
    """

    id: str
    digest: str
    kind: str
    subject: str
    cwd: str
    policy: str
    assessment: Assessment
    tool: str = ""
    call_id: str = ""
    rule: str = ""
    executable: str = ""
    sha256: str = ""
    origin: str = ""
    env_names: tuple[str, ...] = ()
    wx: tuple[str, ...] = ()
    diff: str = ""
    expires_in: float = 300.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision on one request. ``digest`` must equal the request's, or the answer counts as deny."""

    choice: Choice
    digest: str
    reason: str = ""
    rule: str = ""
    command: str = ""
    by: str = "person"


class Asker(Protocol):
    """Whoever can be asked. The engine implements it with events; a headless run has none."""

    async def ask(self, request: ApprovalRequest) -> Answer:
        """Wait for the answer. May take as long as it likes: the gate itself applies the time limit."""
        ...


def digest_of(facts: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of everything a decision is bound to."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
