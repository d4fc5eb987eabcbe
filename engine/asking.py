"""Asking a person: approvals for the gate, questions for the model. Each is two events and a wait between them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from engine import commands as cmd
from engine import events as ev
from engine.limits import WorkClock
from engine.session import Session
from sandbox.approval import Answer, ApprovalRequest, Choice


@dataclass
class People:
    """The person in front of the screen, as the gate's `Asker` and as the answerer of ``user_ask``.

    present: False in a run without a screen, where nobody can answer. clock: stands still while we wait. stopping: why
    waits are being cancelled (interrupt or close); a cancelled wait without a reason was cut by the gate's own time
    limit.
    """

    session: Session
    present: bool = True
    clock: WorkClock = field(default_factory=WorkClock)
    stopping: str = ""
    _approvals: dict[str, tuple[ApprovalRequest, asyncio.Future[Answer]]] = field(default_factory=dict)
    _questions: dict[str, asyncio.Future[str]] = field(default_factory=dict)

    async def ask(self, request: ApprovalRequest) -> Answer:
        """Show ``request`` and wait for a `Decide`. A cancelled wait is recorded as a denial, with who cut it."""
        self.session.append(_requested(request, self.session.state.cwd))
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._approvals[request.id] = (request, future)
        try:
            with self.clock.paused():
                answer = await future
        except asyncio.CancelledError:
            self._decided(request, Answer(Choice.DENY, request.digest, by=self.stopping or "timeout"))
            raise
        finally:
            del self._approvals[request.id]
        self._decided(request, answer)
        return answer

    def decide(self, command: cmd.Decide) -> None:
        """Deliver a person's answer. One for a request that is gone, or for other bytes than were shown, is ignored."""
        request, future = self._approvals.get(command.id, (None, None))
        if request is None or future is None or future.done() or command.digest != request.digest:
            return
        future.set_result(Answer(Choice(command.choice), command.digest, command.reason, command.rule, command.command))

    async def question(self, call_id: str, question: str, options: tuple[str, ...]) -> str:
        """Ask on behalf of the model and wait. Raises TimeoutError when nobody is there to answer."""
        if not self.present:
            raise TimeoutError("nobody is there to answer")
        id = f"q-{call_id}"
        self.session.append(ev.QuestionAsked(id=id, call_id=call_id, question=question, options=options))
        with self._waiting(id) as future, self.clock.paused():
            text = await future
        self.session.append(ev.QuestionAnswered(id=id, text=text))
        return text

    def answer(self, command: cmd.AnswerQuestion) -> None:
        """Deliver the answer to a question; a late one is ignored."""
        future = self._questions.get(command.id)
        if future is not None and not future.done():
            future.set_result(command.text)

    @contextmanager
    def _waiting(self, id: str) -> Iterator[asyncio.Future[str]]:
        self._questions[id] = asyncio.get_running_loop().create_future()
        try:
            yield self._questions[id]
        finally:
            del self._questions[id]

    def _decided(self, request: ApprovalRequest, answer: Answer) -> None:
        self.session.append(
            ev.ApprovalDecided(
                id=request.id,
                digest=request.digest,
                choice=answer.choice.value,
                by=answer.by,
                reason=answer.reason,
                rule=answer.rule,
                command=answer.command,
            )
        )


def _requested(request: ApprovalRequest, folder: str) -> ev.ApprovalRequested:
    """The event; the folder is shown whole, whatever the call wrote."""
    found = request.assessment
    return ev.ApprovalRequested.model_validate(
        {
            "id": request.id,
            "digest": request.digest,
            "call_id": request.call_id,
            "tool": request.tool,
            "kind": request.kind,
            "subject": request.subject,
            "cwd": os.path.normpath(Path(folder) / request.cwd),
            "policy": request.policy,
            "risk": found.risk.word,
            "reasons": found.reasons,
            "effects": found.effects,
            "spots": found.spots,
            "contained": found.contained,
            "rule": request.rule,
            "executable": request.executable,
            "sha256": request.sha256,
            "origin": request.origin,
            "env_names": request.env_names,
            "diff": request.diff,
            "expires_in": request.expires_in,
        }
    )
