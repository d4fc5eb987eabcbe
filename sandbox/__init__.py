"""The only room that starts a process or writes into a workspace: policy, risk, gate, backends, audit.

``open_broker`` is the door; what is behind it is imported when it is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.approval import Asker
    from sandbox.audit import OnAlert
    from sandbox.broker import Broker
    from sandbox.policy import Policy

__all__ = ["open_broker"]


async def open_broker(
    policy: Policy,
    *,
    mode: str,
    asker: Asker | None,
    rules_path: Path,
    audit_dir: Path,
    state_dir: Path,
    backend: str = "",
    approval_timeout: float = 300.0,
    on_alert: OnAlert | None = None,
) -> Broker:
    """A broker for one session in ``policy.workspace``. Nothing runs until the first operation.

    mode: ask, deny, rules or sandboxed. asker: who can be asked, if anybody. backend: empty for the best that works
    here. approval_timeout: seconds after which no answer means deny. on_alert: told of what a person should see at once
    (escape attempts, high risk) when it has been recorded, on whatever thread; it must not raise. Raises ValueError for
    an unknown mode, a backend that does not work here, or a folder that cannot be a workspace; OSError when records
    cannot be kept.
    """
    import asyncio

    from sandbox.opening import open_parts

    parts = await asyncio.to_thread(open_parts, policy, rules_path, audit_dir, state_dir, backend, on_alert)
    return await parts.broker(mode, asker, approval_timeout)
