"""Programs that may map memory writable and executable: named, for their own line only, and seen by everybody."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.advice import advise
from sandbox.operations import Outcome, RunCommand, Status
from sandbox.policies import named_policy
from sandbox.wx import exceptions
from tests.sandbox.broker_kit import Person, Rig

SHELL = ("/usr/bin/bash", "--noprofile", "--norc", "-c")


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (("node", "x.js"), ("node",)),
        (("/usr/bin/node",), ("node",)),
        (("node_modules/.bin/tsc", "-p", "."), ("tsc",)),
        (("timeout", "60", "npm", "test"), ("npm",)),
        (("env", "CI=1", "-i", "node"), ("node",)),
        (("nice", "timeout", "--foreground", "5", "java", "-version"), ("java",)),
        ((*SHELL, "cd web && npm ci | tail -3 && node a.js"), ("npm", "node")),
        (("sh", "-c", "node a.js"), ("node",)),
        ((*SHELL, "npm ci >log 2>&1 || { cat log; exit 1; }"), ("npm",)),
        ((*SHELL, "CI=1 npm test 2>&1 | tail -5"), ("npm",)),
        ((*SHELL, 'node -e "console.log(\\"x\\")"'), ("node",)),
        ((*SHELL, "echo $(node a.js)"), ("node",)),
        ((*SHELL, "for i in 1 2; do node a.js; done"), ("node",)),
        ((*SHELL, "$N a.js"), ()),
        ((*SHELL, "echo 'node a.js'"), ()),
        ((*SHELL, "node a.js ("), ()),
        (("echo", "node"), ()),
        (("python3", "node"), ()),
        (("make", "test"), ()),
        (("timeout",), ()),
        (("nodes",), ()),
    ],
)
def test_which_command_gets_the_exception(tmp_path: Path, argv: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert exceptions(named_policy("workspace", tmp_path), argv) == names
    assert exceptions(named_policy("read-only", tmp_path), argv) == names
    assert exceptions(named_policy("strict", tmp_path), argv) == ()


async def test_it_is_shown_and_recorded_and_holds_for_that_line_only(rig: Rig, walls: None) -> None:
    python = Path(sys.executable).name
    policy = replace(named_policy("workspace", rig.workspace), name="mine", wx=(python,))
    code = "import mmap; mmap.mmap(-1, 4096, prot=7); print('mapped')"
    person = Person()
    async with rig.broker(person, policy=policy) as broker:
        allowed = await broker.run(RunCommand(f'{sys.executable} -I -S -c "{code}"'))
        refused = await broker.run(RunCommand(f'P={sys.executable}; $P -I -S -c "{code}"'))
    assert allowed.data == b"mapped\n" and b"PermissionError" in refused.data
    said = f"{python} may map memory writable and executable (policy mine)"
    assert [said in request.assessment.effects for request in person.asked] == [True, False]
    assert [record["wx"] for record in rig.records("command")] == [[python], []]


NODE = b"#\n# Fatal error in , line 0\n 3: 0x2 v8::base::OS::SetPermissions(void*, unsigned long) [node]\n"


@pytest.mark.parametrize(
    ("policy", "said", "code", "hint"),
    [
        ("workspace", NODE, 133, "by its own name"),
        ("strict", NODE, 133, "another policy"),
        ("workspace", b"Failed to mark memory page as executable - check if grsecurity/PaX is enabled", 1, "own name"),
        ("workspace", b"fatal: Couldn't JIT the PCRE2 pattern 'a', got '-48'", 128, "(*NO_JIT)"),
        ("strict", b"bash: line 1: ./x: Permission denied\n", 126, "python3 script.py"),
        ("strict", b"ImportError: a.so: failed to map segment from shared object", 1, "runs nothing"),
        ("workspace", b"bash: line 1: ./x: Permission denied\n", 126, ""),
        ("strict", b"cat: x: Permission denied\n", 1, ""),
        ("workspace", b"npm ERR! something else", 1, ""),
    ],
)
def test_what_ran_into_a_wall_is_told_what_to_do(
    tmp_path: Path, policy: str, said: bytes, code: int, hint: str
) -> None:
    done = advise(Outcome(Status.FAILED, data=said, exit_code=code), named_policy(policy, tmp_path))
    assert hint in done.suggestion if hint else not done.suggestion
