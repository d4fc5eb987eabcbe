"""The one way to have an effect on the machine: policy, risk, gate, backend, audit line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sandbox.advice import advise
from sandbox.approval import Answer, ApprovalRequest, Choice
from sandbox.assess import bound, conflict
from sandbox.backends.base import Capabilities, OnOutput
from sandbox.operations import (
    Caller,
    DecodePicture,
    ListFiles,
    Operation,
    Outcome,
    PollBackground,
    ReadFile,
    RunArgv,
    RunCommand,
    SearchFiles,
    Status,
    WriteFile,
)

if TYPE_CHECKING:
    from sandbox.audit import Audit
    from sandbox.backends.base import Sandbox
    from sandbox.gate import Gate
    from sandbox.policy import Policy
    from sandbox.requests import Requests


class Broker:
    """Runs operations for one session. Built by `sandbox.open_broker`; the only object other rooms hold."""

    def __init__(
        self, policy: Policy, sandbox: Sandbox, capabilities: Capabilities, gate: Gate, requests: Requests, audit: Audit
    ) -> None:
        from sandbox.backgrounds import Backgrounds

        self.policy = policy
        self.capabilities = capabilities
        self._sandbox = sandbox
        self._gate = gate
        self._requests = requests
        self._audit = audit
        self._backgrounds = Backgrounds(policy.limits.wall_seconds)

    def set_mode(self, mode: str) -> None:
        """What to do when the gate would ask: ask, deny, rules or sandboxed. Raises ValueError for another word."""
        from sandbox.gate import Mode

        self._gate.mode = Mode(mode)

    def inherit(self, other: Broker) -> None:
        """What was allowed for the session of ``other`` holds in the one that goes on for it."""
        self._gate.inherit(other._gate)

    def only_reads(self, op: Operation) -> bool:
        """Whether ``op`` changes nothing, as the gate judges it: cut off, it leaves nothing half done."""
        if isinstance(op, RunCommand | RunArgv):
            return self._requests.only_reads(op)
        return not isinstance(op, WriteFile)

    async def run(self, op: Operation, caller: Caller = Caller(), on_output: OnOutput | None = None) -> Outcome:
        """Run ``op`` if policy, rules and person allow it. Never raises for what the operation did: see Outcome.

        Cancelling the awaiting task ends the whole process tree before it returns.
        """
        try:
            if isinstance(op, PollBackground):
                return await self._backgrounds.poll(op)
            if isinstance(op, RunCommand | RunArgv):
                return await self._command(op, caller, on_output)
            if isinstance(op, WriteFile):
                return await self._write(op, caller)
            return await self._read(op, caller)
        except OSError as error:
            # The record comes first: what cannot be recorded does not run.
            return Outcome(
                Status.ERROR,
                error=f"the sandbox's records cannot be written: {error.strerror or error}",
                suggestion=f"check that {self._audit.folder} can be written and the disk is not full",
            )

    async def close(self) -> None:
        """End everything this broker started, background commands included."""
        await self._backgrounds.close()
        await self._sandbox.stop()

    # --- commands ---------------------------------------------------------------------------------------------------

    async def _command(self, op: RunCommand | RunArgv, caller: Caller, on_output: OnOutput | None) -> Outcome:
        if refused := self._requests.unusable(op):
            self._blocked(caller, self._requests.line(op), refused)
            return Outcome(Status.DENIED, error=refused[0], suggestion=refused[1])
        prepared = self._requests.command(op, caller)
        answer = await self._gate.decide(prepared.request, by_person=caller.person)
        self._decided(caller, prepared.request, answer)
        if answer.choice is Choice.DENY:
            return _denied(answer)
        edited = ""
        if answer.choice is Choice.EDIT:
            edited = answer.command
            op = RunCommand(edited, op.cwd, op.env, op.timeout, isinstance(op, RunCommand) and op.background)
            prepared = self._requests.command(op, caller)
            self._decided(caller, prepared.request, replace(answer, digest=prepared.request.digest))
        if answer.by != "low":
            self._requests.accept(prepared)
        self._record("command", caller, prepared.request, answer)
        if isinstance(op, RunCommand) and op.background:
            return replace(await self._start(op, prepared.argv, caller, prepared.request), command=edited)
        done = await self._sandbox.exec(
            prepared.argv, cwd=op.cwd, env=op.env, timeout=op.timeout, on_output=on_output, call=caller.call_id
        )
        return replace(self._ended("command", caller, prepared.request, done), command=edited)

    async def _start(self, op: RunCommand, argv: tuple[str, ...], caller: Caller, request: ApprovalRequest) -> Outcome:
        if full := self._backgrounds.full():
            return full
        started = await self._sandbox.spawn(argv, cwd=op.cwd, env=op.env, call=caller.call_id)
        if isinstance(started, Outcome):
            return self._ended("command", caller, request, started)
        return self._backgrounds.add(started, lambda done: self._ended("command", caller, request, done))

    # --- files ------------------------------------------------------------------------------------------------------

    async def _write(self, op: WriteFile, caller: Caller) -> Outcome:
        place = await self._sandbox.look(op.path)
        if place.error:
            return Outcome(Status.ERROR, error=place.error, suggestion="check the path")
        if refused := self._requests.refused_write(op, place):
            self._blocked(caller, op.path, refused)
            return Outcome(Status.DENIED, error=refused[0], suggestion=refused[1])
        if stale := conflict(op, place):
            return Outcome(Status.ERROR, error=stale[0], suggestion=stale[1])
        request = self._requests.write(op, place, caller)
        answer = await self._gate.decide(request)
        self._decided(caller, request, answer)
        if answer.choice is Choice.DENY:
            return _denied(answer)
        self._record("write", caller, request, answer, before=place.sha256)
        done = await self._sandbox.write(bound(op, place))
        return self._ended("write", caller, request, done)

    async def _read(self, op: ReadFile | ListFiles | SearchFiles | DecodePicture, caller: Caller) -> Outcome:
        if isinstance(op, DecodePicture) and not self.capabilities.works:
            return Outcome(
                Status.ERROR,
                error="pictures are decoded in a sandbox only, and there is none here",
                suggestion=self.capabilities.hint,
            )
        if not self.capabilities.contained:
            request = self._requests.read(op.path, await self._sandbox.look(op.path), caller)
            answer = await self._gate.decide(request)
            if answer.choice is Choice.DENY:
                self._decided(caller, request, answer)
                return _denied(answer)
        if isinstance(op, ReadFile):
            return await self._sandbox.read(op)
        if isinstance(op, ListFiles):
            return await self._sandbox.list(op)
        if isinstance(op, DecodePicture):
            return await self._sandbox.picture(op)
        return await self._sandbox.search(op)

    # --- the record -------------------------------------------------------------------------------------------------

    def _decided(self, caller: Caller, request: ApprovalRequest, answer: Answer) -> None:
        """One line for each decision that somebody or some rule made; what is simply harmless needs none."""
        if answer.by == "low":
            return
        self._record(
            "decision" if answer.choice is not Choice.DENY else "denied", caller, request, answer, reason=answer.reason
        )

    def _record(self, type: str, caller: Caller, request: ApprovalRequest, answer: Answer, **more: str) -> None:
        self._audit.write(
            type,
            session=caller.session,
            tool=caller.tool,
            call=caller.call_id,
            kind=request.kind,
            subject=request.subject,
            cwd=request.cwd,
            policy=request.policy,
            backend=self.capabilities.name,
            risk=request.assessment.risk,
            reasons=request.assessment.reasons,
            env=request.env_names,
            wx=request.wx,
            choice=answer.choice.value,
            by=answer.by,
            rule=answer.rule,
            digest=request.digest,
            **more,
        )

    def _ended(self, of: str, caller: Caller, request: ApprovalRequest, done: Outcome) -> Outcome:
        """Record how it ended. What ran has run: when that cannot be recorded, the outcome says so and stays."""
        if of == "command":
            done = advise(done, self.policy)
        try:
            self._audit.write(
                "result",
                of=of,
                session=caller.session,
                call=caller.call_id,
                digest=request.digest,
                status=done.status.value,
                exit_code=done.exit_code,
                sha256=done.sha256,
                error=done.error,
                seconds=round(done.seconds, 4),
            )
            for path in done.blocked:
                self._blocked(caller, path, (f"protected; made by: {request.subject}", ""))
        except OSError as error:
            note = f"it ended, but that could not be recorded: {error.strerror or error}"
            return replace(done, error=f"{done.error}; {note}" if done.error else note)
        return done

    def _blocked(self, caller: Caller, subject: str, refused: tuple[str, str]) -> None:
        self._audit.write(
            "blocked",
            session=caller.session,
            tool=caller.tool,
            call=caller.call_id,
            subject=subject,
            risk="high",
            reason=refused[0],
        )


def _denied(answer: Answer) -> Outcome:
    """What the model is told: a person's own words as feedback, anything else as the reason."""
    if answer.by == "person":
        return Outcome(
            Status.DENIED,
            error="a person said no",
            feedback=answer.reason,
            suggestion="" if answer.reason else "do not try the same again; find another way or ask what they want",
        )
    hints = {
        "timeout": "go on with something else, or ask the person",
        "rule": "this was ruled out for good; find another way",
        "mode": "find a way that only reads or stays in the workspace, or say in your answer what you could not do",
    }
    return Outcome(Status.DENIED, error=answer.reason or "denied", suggestion=hints.get(answer.by, ""))
