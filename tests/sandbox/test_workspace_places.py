"""Workspaces in places where the sandbox has something of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from sandbox.operations import ReadFile, RunCommand, Status, WriteFile
from tests.sandbox.broker_kit import Person, Rig

pytestmark = pytest.mark.usefixtures("walls")


@pytest.mark.parametrize("place", ["/tmp", "/var/tmp", "/dev/shm"])
async def test_a_workspace_in_a_folder_for_scratch(place: str) -> None:
    if not Path(place).is_dir():
        pytest.skip(f"there is no {place} here")
    with tempfile.TemporaryDirectory(dir=place) as base:
        rig = Rig(Path(base))
        async with rig.broker(Person()) as broker:
            assert (await broker.run(WriteFile("new/a", b"text"))).status is Status.OK
            assert (await broker.run(ReadFile("new/a"))).data == b"text"
            done = await broker.run(RunCommand("pwd -P; cat new/a; echo x > /tmp/b && echo x > /var/tmp/c"))
            assert done.exit_code == 0 and done.data == f"{rig.workspace}\ntext".encode()
