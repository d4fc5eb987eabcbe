"""Puts a broker together: backend, policy, rules, records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.approval import Asker
from sandbox.audit import Audit, OnAlert
from sandbox.backends import pick_backend
from sandbox.backends.base import Backend
from sandbox.backends.mounts import check_workspace
from sandbox.broker import Broker
from sandbox.connections import recorder
from sandbox.gate import Gate
from sandbox.identity import Identities
from sandbox.policy import Policy
from sandbox.requests import Requests
from sandbox.rulebook import RuleBook


@dataclass(frozen=True, slots=True)
class Parts:
    """What took looking at the machine; the broker itself is built on the loop it will run on."""

    backend: Backend
    policy: Policy
    book: RuleBook
    audit: Audit
    identities: Identities

    async def broker(self, mode: str, asker: Asker | None, timeout: float) -> Broker:
        """Raises ValueError for an unknown mode."""
        found = self.backend.capabilities()
        gate = Gate(mode, self.book, asker, timeout, walls=found.contained)
        sandbox = await self.backend.start(self.policy, recorder(self.audit, self.policy.name))
        # Without the filter a line of defence is missing: nothing counts as held entirely, so more is asked.
        walls = found.contained and found.filtered
        requests = Requests(self.policy, self.identities, sandbox.path, walls, timeout)
        return Broker(self.policy, sandbox, found, gate, requests, self.audit)


def open_parts(
    policy: Policy, rules_path: Path, audit_dir: Path, state_dir: Path, backend: str, on_alert: OnAlert | None = None
) -> Parts:
    """Check the workspace, find a backend, make the folders for records and hide them from what runs.

    Raises ValueError (unusable workspace or backend) and OSError (folders cannot be made).
    """
    workspace = check_workspace(policy.workspace)
    for folder in (audit_dir, state_dir):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    audit = Audit(audit_dir, on_alert)
    audit.prepare()
    records = (audit_dir.resolve(), audit.seal.folder.resolve(), state_dir.resolve())
    hidden = (*policy.hidden, *records, *_rules_hidden(rules_path, workspace))
    return Parts(
        backend=pick_backend(backend),
        policy=replace(policy, workspace=workspace, hidden=hidden),
        book=RuleBook(rules_path),
        audit=audit,
        identities=Identities(state_dir / "programs.json"),
    )


def _rules_hidden(rules_path: Path, workspace: Path) -> tuple[Path, ...]:
    """The folder of the rules, or the file alone when its folder is (or holds) the workspace.

    Either must exist to be hidden: what is missing could be made by what runs.
    """
    folder = rules_path.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not workspace.is_relative_to(folder.resolve()):
        return (folder.resolve(),)
    if rules_path.resolve().is_relative_to(workspace):
        rules_path.touch(mode=0o600)
        return (rules_path.resolve(),)
    return ()
