"""The one way to have an effect on the machine: policy, risk, gate, backend, audit line."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.backends.base import OnOutput
from sandbox.operations import Operation, Outcome


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: shown to the person and written to the audit log."""

    session: str = ""
    tool: str = ""
    call_id: str = ""


class Broker:
    """Runs operations for one session. Built by `sandbox.open_broker`; the only object other rooms hold."""

    async def run(self, op: Operation, caller: Caller = Caller(), on_output: OnOutput | None = None) -> Outcome:
        """Run ``op`` if policy, rules and person allow it. Never raises for what the operation did: see Outcome.

        Cancelling the awaiting task ends the whole process tree before it returns.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """End everything this broker started, background commands included."""
        raise NotImplementedError
