"""What doctor says: a line is enforced only when attacks that work bare were stopped, and all of it fits 80 columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.cli.doctor_page import page
from sandbox.backends.base import Capabilities
from sandbox.proof.claims import CLAIMS
from sandbox.proof.lines import BUILDING, ESCAPES, LINES, Check, Proof, State
from sandbox.proof.probes import PROBES

BWRAP = Capabilities("bwrap", works=True, contained=True, filtered=True, landlock=6)
BARE = Capabilities("bare", works=False, contained=False, why="nothing", hint="use a sandbox")


def perfect() -> Proof:
    """Everything works bare, nothing that should not works inside, everything under the bare backend does."""
    named = [(line, name, False) for line, names in ESCAPES.items() for name in names]
    named += [(probe.line, probe.what, probe.wanted) for probe in PROBES]
    named += [(claim.line, claim.what, False) for claim in CLAIMS]
    inside = {True: "open", False: "closed"}
    checks = [
        Check(line, what, "open", {"bwrap": inside[wanted], "bare": "open"}, wanted) for line, what, wanted in named
    ]
    return Proof(tuple(checks), ("bwrap", "bare"), {"bwrap": BWRAP, "bare": BARE})


def with_check(proof: Proof, what: str, **changes: object) -> Proof:
    checks = tuple(replace(check, **changes) if check.what == what else check for check in proof.checks)  # type: ignore[arg-type]
    return replace(proof, checks=checks)


def test_there_are_twelve_lines_and_each_has_attacks() -> None:
    proof = perfect()
    assert len(LINES) == 12 and {check.line for check in proof.checks} == set(LINES)
    assert all(any(not check.wanted for check in proof.of(line)) for line in LINES)
    names = [check.what for check in proof.checks]
    assert len(names) == len(set(names))


def test_everything_stopped_is_enforced_and_nothing_stopped_is_not() -> None:
    proof = perfect()
    assert {proof.state(line, "bwrap") for line in LINES} == {State.ENFORCED}
    assert {proof.state(line, "bare") for line in LINES} == {State.NOT}


def test_one_that_got_through_makes_it_partly() -> None:
    proof = with_check(perfect(), "bpf", inside={"bwrap": "open", "bare": "open"})
    assert proof.state("system calls", "bwrap") is State.PARTLY
    said = "\n".join(page(proof, "bwrap"))
    assert "~ partly" in said and "got through: bpf" in said and "do: " in said


def test_what_must_work_and_does_not_is_a_failure_too() -> None:
    proof = with_check(perfect(), "the workspace can be written", inside={"bwrap": "closed", "bare": "open"})
    assert proof.state("files", "bwrap") is State.PARTLY
    assert "does not work: the workspace can be written" in "\n".join(page(proof, "bwrap"))


def test_what_is_refused_even_bare_proves_nothing() -> None:
    proof = perfect()
    for name in ESCAPES["network"]:
        proof = with_check(proof, name, bare="closed")
    assert proof.state("network", "bwrap") is State.PARTLY
    said = " ".join(" ".join(page(proof, "bwrap")).split())
    assert "nothing could be proved" in said and "refused here even bare" in said


def test_building_is_no_escape_where_the_policy_is_for_it() -> None:
    proof = perfect()
    for name in BUILDING:
        proof = with_check(proof, name, inside={"bwrap": "open", "bare": "open"})
    assert proof.state("system calls", "bwrap") is State.ENFORCED
    assert "strict refuses it" in " ".join(" ".join(page(proof, "bwrap")).split())


def test_without_a_sandbox_every_line_says_what_to_do() -> None:
    absent = replace(BWRAP, works=False, contained=False, why="no user namespaces", hint="run sysctl")
    proof = replace(
        perfect(), backends=("bare",), found={"bwrap": absent, "bare": replace(BARE, why="no user namespaces")}
    )
    said = "\n".join(page(proof, "bare"))
    assert said.count("✗ not enforced    ✗ not enforced") == 12 and "none: no user namespaces" in said
    assert "asks a person first" in said


@pytest.mark.parametrize("name", ["bpf", "", "the workspace can be written"])
def test_it_fits_eighty_columns_and_has_no_colour(name: str) -> None:
    proof = with_check(perfect(), name, inside={"bwrap": "n/a", "bare": "open"})
    gaps = (
        "this kernel has no Landlock: programs dropped into a folder are held by one wall only; boot with lsm=landlock",
    )
    proof = replace(proof, found=proof.found | {"bwrap": replace(BWRAP, gaps=gaps)})
    lines = page(proof, "bwrap")
    assert all(len(line) <= 80 and "\x1b" not in line for line in lines)
    assert any("missing" in line for line in lines)
