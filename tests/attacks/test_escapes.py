"""The 33 generic escapes: each works bare, none under ``strict``, under ``workspace`` only running what was built."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from sandbox.backends.bubblewrap import BubblewrapBackend
from sandbox.policies import named_policy
from sandbox.proof import escapes, lines, tries
from sandbox.proof.probes import LIMITS
from sandbox.proof.stage import Stage, stage

NAMES = tuple(escapes.ESCAPES)
POLICIES = ("strict", "workspace", "read-only")


@cache
def found() -> dict[str, tries.Found]:
    """What came of all of them, bare and under each policy: tried once, on one set of things to attack."""
    with stage() as place:
        return {"bare": tries.bare(place)} | {name: asyncio.run(_under(name, place)) for name in POLICIES}


async def _under(name: str, place: Stage) -> tries.Found:
    policy = replace(named_policy(name, place.workspace), limits=LIMITS)
    sandbox = await BubblewrapBackend().start(policy)
    try:
        return await tries.inside(sandbox, place)
    finally:
        await sandbox.stop()


@pytest.fixture(autouse=True)
def walls() -> Iterator[None]:
    capable = BubblewrapBackend().capabilities()
    if not capable.contained:
        pytest.skip(f"no sandbox works here: {capable.why}")
    yield


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("policy", POLICIES)
def test_an_escape_works_bare_and_not_inside(policy: str, name: str) -> None:
    if policy != "strict" and name in lines.BUILDING:
        pytest.skip(f"{name}: what the policy {policy} is for")
    assert found()[policy][name] == "closed"
    if found()["bare"][name] != "open":
        pytest.skip(f"{name}: this machine refuses it even bare, so nothing is proved")


def test_what_is_built_in_the_workspace_runs_there() -> None:
    assert {name for name in NAMES if found()["workspace"][name] == "open"} == set(lines.BUILDING)


def test_there_are_33_and_each_is_told() -> None:
    assert len(NAMES) == 33
    assert all(set(told) == set(NAMES) for told in found().values())
    assert {state for told in found().values() for state in told.values()} <= {"open", "closed", "n/a"}


def test_every_escape_belongs_to_a_line() -> None:
    placed = [name for names in lines.ESCAPES.values() for name in names]
    assert sorted(placed) == sorted(NAMES)


def test_most_of_them_are_proved_here() -> None:
    """A control arm that has stopped working would make every escape look closed."""
    assert sum(state == "open" for state in found()["bare"].values()) >= 24
