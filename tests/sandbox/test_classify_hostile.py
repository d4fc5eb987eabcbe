"""Text made to break the classifier: it must answer, in bounded time, and never say less than the worst part."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.classify import commands, plan
from sandbox.risk import Risk
from tests.sandbox.test_classify import judged, table

WORKSPACE = Path("/srv/project")

HOSTILE = [
    "",
    " ",
    "\n",
    "\t\n ",
    "\0",
    "ls\0rm",
    "\ud800",
    "ls \udcff",
    "a" * 1_000_000,
    "ls " * 20_000,
    "ls;" * 20_000,
    "(" * 30_000,
    "$(" * 30_000,
    "{ " * 30_000,
    "`" * 60_000,
    "a|" * 30_000,
    "a|" * 2_400,
    "a=(b " * 9_000,
    "<<a\n" * 16_000,
    "'" * 65_000,
    '"' * 65_001,
    "\\" * 65_001,
    "{a,b}" * 9_000,
    "{" * 60_000,
    "ls " + "../" * 20_000,
    "touch " + "a/" * 30_000,
    "cat " + "*?" * 30_000,
    "ls " + "[" * 60_000,
    "curl " + "a" * 60_000,
    "bash -" + "c" * 60_000 + "!",
    "sed '" + "s/a/b/;" * 9_000 + "'",
    "sed '" + "/" * 60_000 + "'",
    "chmod " + "-m0" * 20_000 + " x",
    "git " + "-C x " * 13_000,
    "env " * 16_000 + "ls",
    "timeout 1 " * 6_000 + "ls",
    "xargs " * 10_000 + "ls",
    "bash -c " * 8_000,
    "eval " * 13_000 + "ls",
    "find . " + "-exec find . " * 5_000,
    "cd a; " * 10_000 + "touch x",
    "> a " * 16_000,
    "x=1 " * 16_000,
    "ls " + "$x" * 30_000,
    "if true; then " * 4_000,
    "f(){ f|f& };" * 5_000,
    "a|" * 400 + "a",
    "ls \\\n" * 10_000,
    "é" * 60_000,
    "ls 'é" + "日本" * 10_000 + "'",
    "for x in " * 7_000,
    "[[ " * 20_000,
    "$((" * 20_000,
    "case " * 13_000,
]


@pytest.mark.parametrize("command", HOSTILE, ids=lambda text: f"{text[:12]!r}x{len(text)}")
def test_hostile_text_never_crashes_and_ends(command: str) -> None:
    found = judged(command, WORKSPACE)
    plan(command)
    commands(command)
    assert found.risk in Risk
    assert all(0 <= start < end <= len(command) for start, end in found.spots)


@pytest.mark.parametrize("count", [1, 5, 50, 500])
def test_wrapping_never_lowers_a_risk(count: int) -> None:
    for wrapper in ("env ", "timeout 1 ", "nice ", "command ", "exec ", "xargs "):
        assert judged(wrapper * count + "rm -rf x", WORKSPACE).risk is Risk.HIGH
        assert judged(wrapper * count + "touch x", WORKSPACE).risk >= Risk.MEDIUM
    assert judged("( " * count + "rm -rf x" + " )" * count, WORKSPACE).risk is Risk.HIGH
    assert judged("$(" * count + "touch x" + ")" * count, WORKSPACE).risk >= Risk.MEDIUM


def test_joining_never_lowers_a_risk() -> None:
    sample = [(command, judged(command, WORKSPACE).risk) for command, _ in table()[::9]]
    for joiner in (" && ", "; ", "\n"):
        for command, risk in sample:
            if "\n" not in command and "#" not in command:
                assert judged(f"ls{joiner}{command}", WORKSPACE).risk >= risk, command
