"""What a file operation risks. The shell has its own classifier; files are simpler: where does the path lead?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sandbox.backends.base import Place
from sandbox.operations import WriteFile
from sandbox.policy import Policy
from sandbox.risk import Assessment, Risk

# Below the home folder: keys, credentials and what a shell or desktop starts by itself.
_PRIVATE = (
    ".ssh .aws .azure .gnupg .kube .docker .config .local/share/keyrings .netrc .npmrc .pypirc .git-credentials "
    ".cargo/credentials.toml .m2/settings.xml .password-store .bash_history .zsh_history .mozilla"
).split()


def assess_write(op: WriteFile, place: Place, *, walls: bool) -> Assessment:
    """Writing inside the workspace is medium and contained: it can be seen, and undone from the diff."""
    verb = {"missing": "create", "file": "replace"}.get(place.kind, "write")
    return Assessment(
        Risk.MEDIUM,
        reasons=("changes a file of the workspace",),
        effects=(f"{verb} {op.path} ({len(op.data):,} bytes)",),
        contained=walls,
    )


def assess_read(path: str, place: Place | None, policy: Policy) -> Assessment:
    """Reading what the sandbox shows is low. ``place`` is given where no sandbox hides anything."""
    effects = (f"read {path}",)
    if place is None or place.inside or place.error or _readable(place.real, policy):
        return Assessment(Risk.LOW, effects=effects, contained=place is None)
    home = Path.home()
    if any(Path(place.real).is_relative_to(home / name) for name in _PRIVATE):
        return Assessment(Risk.HIGH, ("holds keys or credentials",), effects, contained=False)
    return Assessment(Risk.MEDIUM, (f"lies outside the workspace: {place.real}",), effects, contained=False)


def refusal(op: WriteFile, place: Place, policy: Policy) -> tuple[str, str] | None:
    """Why a write cannot be allowed by anybody, with what to do instead; None when it can be asked about."""
    if not place.inside:
        return (
            f"{op.path} leads to {place.real}, outside the workspace {policy.workspace}",
            "write into the workspace; a person can copy it elsewhere",
        )
    if place.protected:
        return (
            f"{op.path} is protected ({place.protected}): it can run code outside the sandbox",
            "leave it as it is and tell the person what to change",
        )
    if not policy.writable:
        return f"the policy {policy.name} does not allow writing", "only read, or ask for another policy"
    return None


def conflict(op: WriteFile, place: Place) -> tuple[str, str] | None:
    """Why a write is void before anybody is asked: the file is not the one the caller read. With what to do."""
    known = place.kind == "missing" or place.sha256
    if op.expected_sha256 is None or not known or op.expected_sha256 == place.sha256:
        return None
    if op.expected_sha256 == "":
        return f"{op.path} exists already", "read it first, then edit it"
    if place.kind == "missing":
        return f"{op.path} no longer exists", "list the folder, then write it as a new file"
    return f"{op.path} has changed since it was read", "read it again and redo the change"


def bound(op: WriteFile, place: Place) -> WriteFile:
    """``op`` tied to what was there when it was approved: other bytes that take their place make it void."""
    if op.expected_sha256 is not None or place.kind not in ("missing", "file"):
        return op
    too_large_to_compare = place.kind == "file" and not place.sha256
    return op if too_large_to_compare else replace(op, expected_sha256=place.sha256)


def _readable(real: str, policy: Policy) -> bool:
    return any(Path(real).is_relative_to(path) for path in (Path("/usr"), *policy.readable))
