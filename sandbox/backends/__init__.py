"""Ways of containing processes, and the choice among them."""

from __future__ import annotations

from sandbox.backends.base import Backend

NAMES = ("bwrap", "bare")


def pick_backend(name: str = "") -> Backend:
    """The backend called ``name``, or the best one that works here. Probes for real, once in a process.

    Falls back to ``bare`` (which contains nothing and says so) only when no name is given.
    Raises ValueError for an unknown name, or a named one that does not work here.
    """
    from sandbox.backends.bare import BareBackend
    from sandbox.backends.bubblewrap import BubblewrapBackend

    if name == "bare":
        return BareBackend()
    if name not in ("", "bwrap"):
        raise ValueError(f"unknown sandbox backend {name!r}: choose {' or '.join(NAMES)}")
    bwrap = BubblewrapBackend()
    found = bwrap.capabilities()
    if found.works:
        return bwrap
    if name:
        raise ValueError(f"the sandbox backend {name} does not work here: {found.why}. {found.hint}")
    return BareBackend(found.why, found.hint)
