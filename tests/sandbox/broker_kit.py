"""What the sandbox's tests share: a broker over a folder of their own, and a person who answers as told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sandbox import open_broker
from sandbox.approval import Answer, ApprovalRequest, Choice
from sandbox.audit import Record, records
from sandbox.broker import Broker
from sandbox.policies import named_policy
from sandbox.policy import Policy

Reply = Callable[[ApprovalRequest], Answer]


def say(choice: Choice, **more: Any) -> Reply:
    """A person who always answers the same."""
    return lambda request: Answer(choice, request.digest, **more)


yes, no = say(Choice.ONCE), say(Choice.DENY)


@dataclass
class Person:
    """Answers with ``reply`` and remembers what was asked."""

    reply: Reply = yes
    asked: list[ApprovalRequest] = field(default_factory=list)

    async def ask(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        return self.reply(request)


@dataclass
class Rig:
    """A workspace and the places for rules and records beside it."""

    base: Path

    def __post_init__(self) -> None:
        self.workspace.mkdir(parents=True, exist_ok=True)

    @property
    def workspace(self) -> Path:
        return self.base / "workspace"

    @property
    def rules(self) -> Path:
        return self.base / "config" / "rules.toml"

    @property
    def audit(self) -> Path:
        return self.base / "audit"

    def records(self, type: str = "") -> list[Record]:
        return [record for record in records(self.audit) if type in ("", record["type"])]

    @asynccontextmanager
    async def broker(
        self, person: Person | None = None, mode: str = "ask", policy: Policy | None = None, **more: Any
    ) -> AsyncIterator[Broker]:
        chosen = policy or named_policy("workspace", self.workspace)
        broker = await open_broker(
            replace(chosen, workspace=self.workspace),
            mode=mode,
            asker=person,
            rules_path=self.rules,
            audit_dir=self.audit,
            state_dir=self.base / "state",
            **more,
        )
        try:
            yield broker
        finally:
            await broker.close()
