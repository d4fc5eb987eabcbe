"""Turns an operation into what a decision is made on: risk, suggested rule, program, and the digest of it all."""

from __future__ import annotations

import hashlib
import os
import secrets
import shlex
import shutil
from dataclasses import dataclass, replace
from typing import Any

from sandbox.approval import ApprovalRequest, digest_of
from sandbox.assess import assess_read, assess_write, refusal
from sandbox.backends.base import Place
from sandbox.backends.environment import refused_names
from sandbox.connections import reachable
from sandbox.identity import Identities, Program
from sandbox.operations import Caller, RunArgv, RunCommand, WriteFile
from sandbox.packages import origin
from sandbox.policy import Network, Policy
from sandbox.risk import Assessment, Risk
from sandbox.rules import simple_commands, suggest_path, suggest_shell
from sandbox.wx import effect, exceptions

_LONGEST = 128 * 1024  # what Linux takes as one argument


@dataclass(frozen=True, slots=True)
class Prepared:
    """A command ready to run once it is approved: ``argv`` is what is executed."""

    argv: tuple[str, ...]
    request: ApprovalRequest
    program: Program | None


@dataclass(frozen=True, slots=True)
class Requests:
    """``path``: PATH as programs see it. ``walls``: whether a sandbox contains what runs. ``timeout``: seconds."""

    policy: Policy
    identities: Identities
    path: str
    walls: bool
    timeout: float

    def line(self, op: RunCommand | RunArgv) -> str:
        """The command line as people read it."""
        return op.command if isinstance(op, RunCommand) else shlex.join(op.argv)

    def unusable(self, op: RunCommand | RunArgv) -> tuple[str, str] | None:
        """Why a command cannot be run at all, with what to do; asked before anybody else is."""
        line = self.line(op)
        if not line.strip():
            return "the command is empty", "write a command"
        if "\0" in line:
            return "a command cannot hold a NUL", "leave it out"
        if len(os.fsencode(line)) >= _LONGEST:
            return "the command is longer than 128 KiB", "write the text to a file and use that"
        if names := refused_names(op.env):
            return f"{names[0]} cannot be set: it changes which code runs", "leave it out of the environment"
        return None

    def only_reads(self, op: RunCommand | RunArgv) -> bool:
        """Whether a command changes nothing, as far as its line tells. Nobody may decide by this later: what a line
        does hangs on files too, and they may be others by then, so that the gate classifies anew."""
        from sandbox.classify import classify

        return classify(self.line(op), workspace=self.policy.workspace, cwd=op.cwd).risk is Risk.LOW

    def command(self, op: RunCommand | RunArgv, caller: Caller) -> Prepared:
        """Classify a command, find its program, and bind it all to a digest."""
        line = self.line(op)
        argv, program = self._resolve(op)
        assessment = self._assess(line, op.cwd, program)
        jits = exceptions(self.policy, argv)
        assessment = replace(assessment, effects=(*assessment.effects, *effect(self.policy, jits)))
        facts: dict[str, Any] = {
            "argv": list(argv),
            "cwd": op.cwd,
            "env": dict(op.env),
            "policy": repr(self.policy),
            "program": [program.path, program.sha256] if program else [],
        }
        parts = simple_commands(line)
        rule = suggest_shell(parts[0], assessment.risk) if parts and len(parts) == 1 and not op.env else ""
        request = self._request("command", line, assessment, caller, facts)
        request = replace(request, cwd=op.cwd, rule=rule, env_names=tuple(sorted(op.env)), wx=jits)
        if program is not None:
            request = replace(
                request,
                executable=program.path,
                sha256=program.sha256,
                origin=origin(program.path, program.sha256) if assessment.risk > Risk.LOW else "",
            )
        return Prepared(argv, request, program)

    def accept(self, prepared: Prepared) -> None:
        """The command was approved with the program it has now."""
        if prepared.program is not None and prepared.program.changed:
            self.identities.accept(prepared.program)

    def write(self, op: WriteFile, place: Place, caller: Caller) -> ApprovalRequest:
        """A request to write: bound to the real path, the bytes that are there and the bytes that come."""
        subject = os.path.relpath(place.real, self.policy.workspace)
        facts: dict[str, Any] = {
            "path": place.real,
            "before": place.sha256,
            "expected": op.expected_sha256,
            "after": hashlib.sha256(op.data).hexdigest(),
            "policy": repr(self.policy),
        }
        assessment = assess_write(op, place, walls=self.walls)
        request = self._request("write", subject, assessment, caller, facts)
        return replace(request, rule=suggest_path("write", subject), diff=op.diff)

    def refused_write(self, op: WriteFile, place: Place) -> tuple[str, str] | None:
        """Why nobody could allow this write."""
        return refusal(op, place, self.policy)

    def read(self, path: str, place: Place, caller: Caller) -> ApprovalRequest:
        """A request to read, where no sandbox hides what must not be read."""
        assessment = assess_read(path, place, self.policy)
        subject = os.path.relpath(place.real, self.policy.workspace) if place.inside else place.real
        return self._request("read", subject, assessment, caller, {"path": place.real, "policy": repr(self.policy)})

    def _request(
        self, kind: str, subject: str, assessment: Assessment, caller: Caller, facts: dict[str, Any]
    ) -> ApprovalRequest:
        return ApprovalRequest(
            id=secrets.token_hex(8),
            digest=digest_of({"kind": kind} | facts),
            kind=kind,
            subject=subject,
            cwd=".",
            policy=self.policy.name,
            assessment=assessment,
            tool=caller.tool,
            call_id=caller.call_id,
            expires_in=self.timeout,
        )

    def _resolve(self, op: RunCommand | RunArgv) -> tuple[tuple[str, ...], Program | None]:
        """What is executed: a plain command without a shell, anything else by bash without start-up files."""
        from sandbox.classify import plan

        words = op.argv if isinstance(op, RunArgv) else plan(op.command)
        cwd = self.policy.workspace / op.cwd
        program = self.identities.find(words[0], self.path, cwd, self.policy.workspace) if words else None
        if isinstance(op, RunArgv) or (words and program is not None):
            return tuple(words or ()), program
        return (*_shell(), op.command), program

    def _assess(self, line: str, cwd: str, program: Program | None) -> Assessment:
        from sandbox.classify import classify

        found = classify(line, workspace=self.policy.workspace, cwd=cwd)
        if program is not None and program.changed:
            reason = f"{program.path} has changed since it was first used here"
            found = replace(found, risk=max(found.risk, Risk.HIGH), reasons=(*found.reasons, reason), contained=False)
        if self.walls and self.policy.network is Network.OFF:
            return found
        reach = reachable(self.policy) if found.risk > Risk.LOW else ()
        return replace(found, effects=(*found.effects, *reach), contained=False)


def _shell() -> tuple[str, ...]:
    bash = shutil.which("bash", path="/usr/bin:/bin")
    return (bash, "--noprofile", "--norc", "-c") if bash else ("/bin/sh", "-c")
