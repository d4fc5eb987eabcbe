"""The tools through the real broker: gate, sandbox and file helper included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.events import ToolCall, ToolResult
from engine.tools.runner import run_call
from sandbox import open_broker
from sandbox.policies import named_policy
from tests.engine.tools_kit import Bench


class Real:
    """A bench whose broker is the real one."""

    def __init__(self, bench: Bench, broker: Any) -> None:
        self.bench = bench
        self.broker = broker

    async def call(self, name: str, **input: Any) -> ToolResult:
        context = replace(self.bench.context, broker=self.broker)
        return await run_call(ToolCall(id="c1", name=name, input=input), 1, context, self.bench.put)


@pytest.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    bench = Bench(tmp_path)
    broker = await open_broker(
        named_policy("workspace", bench.workspace),
        mode="sandboxed",
        asker=None,
        rules_path=tmp_path / "rules.toml",
        audit_dir=tmp_path / "audit",
        state_dir=tmp_path / "state",
    )
    if not broker.capabilities.contained:
        pytest.skip(f"no sandbox here: {broker.capabilities.why}")
    yield Real(bench, broker)
    await broker.close()


async def test_a_file_from_nothing_to_changed(real: Real) -> None:
    made = await real.call("fs_write", path="pkg/a.py", content="def f():\n    return 1\n")
    assert made.status == "ok" and made.summary == "new, 2 lines"
    listed = await real.call("fs_list", depth=2)
    assert "pkg/a.py" in listed.text
    found = await real.call("fs_search", pattern="return \\d")
    assert found.text == "pkg/a.py\n     2:     return 1"
    edited = await real.call("fs_edit", path="pkg/a.py", old="return 1", new="return 2")
    assert edited.status == "ok" and "-    return 1\n+    return 2" in edited.diff
    assert (await real.call("fs_read", path="pkg/a.py")).text.endswith("     2\t    return 2")
    assert (await real.call("shell_run", command="cat pkg/a.py")).text.startswith("def f():\n    return 2\n")


async def test_a_path_that_is_not_there_or_not_allowed(real: Real) -> None:
    missing = await real.call("fs_read", path="none.txt")
    assert missing.status == "error" and "none.txt" in missing.text
    outside = await real.call("fs_write", path="/etc/agent-tui-test", content="x")
    assert outside.status == "denied" and not Path("/etc/agent-tui-test").exists()
    hook = await real.call("fs_write", path=".git/hooks/pre-commit", content="x")
    assert hook.status in ("denied", "error") and hook.files_written == ()


async def test_a_command_reports_its_end_and_its_output(real: Real) -> None:
    result = await real.call("shell_run", command="printf 'größe\\n'; echo err >&2; exit 3")
    assert result.status == "error" and result.exit_code == 3
    assert result.text == "größe\nerr\n[exit code 3]"
    assert "".join(real.bench.progress) == "größe\nerr\n"
    assert result.seconds > 0


async def test_a_long_output_can_be_read_on(real: Real) -> None:
    result = await real.call("shell_run", command="seq 20000")
    assert result.truncated and result.text.startswith("1\n2\n") and "\n20000\n[exit code 0]" in result.text
    offset = int(result.text.split("offset ")[1].split(".]")[0])
    page = await real.call("fs_read", path=f"artifact:{result.artifact}", offset=offset, limit=1)
    assert page.text.startswith(f"{offset:>6}\t{offset}")


async def test_a_command_that_takes_too_long(real: Real) -> None:
    result = await real.call("shell_run", command="echo begun; sleep 60", timeout=0.5)
    assert result.status == "error" and result.retryable
    assert result.text.startswith("begun\n[timed out")


async def test_a_background_command_from_start_to_stop(real: Real) -> None:
    command = "echo ready; while true; do sleep 0.05; done"
    started = await real.call("shell_run", command=command, background=True)
    assert started.status == "ok", started.text
    handle = started.items[0]["handle"]
    seen, offset = "", 0
    while "ready" not in seen:
        polled = await real.call("shell_run", handle=handle, offset=offset, timeout=5)
        assert polled.status == "ok" and polled.items[0]["running"]
        seen += polled.text
        offset = polled.items[0]["offset"]
    ended = await real.call("shell_run", handle=handle, offset=offset, stop=True)
    assert ended.status == "ok" and ended.text.startswith("[No output.]\n[stopped; ")
    assert (await real.call("shell_run", handle="no-such")).status == "error"


async def test_an_interrupt_ends_the_command(real: Real) -> None:
    task = asyncio.create_task(real.call("shell_run", command="echo up; sleep 600"))
    while not real.bench.progress:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_any_bytes_from_a_command_are_text(real: Real) -> None:
    result = await real.call("shell_run", command="printf 'a\\0b\\xff\\xfe\\n'; head -c 4096 /dev/urandom")
    result.text.encode()
    assert result.text.startswith("a\u2400b\ufffd\ufffd\n") and result.text.endswith("[exit code 0]")
