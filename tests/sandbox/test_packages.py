"""Who installed a program, from a package database made for the test and from the real one where there is one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from sandbox.packages import DATABASE, origin


@pytest.fixture
def database(tmp_path: Path) -> Path:
    folder = tmp_path / "info"
    folder.mkdir()
    program = tmp_path / "tool"
    program.write_bytes(b"original")
    md5 = hashlib.md5(b"original").hexdigest()
    (folder / "tools:amd64.list").write_text(f"/.\n{program}\n")
    (folder / "tools:amd64.md5sums").write_text(f"{md5}  {str(program).lstrip('/')}\n")
    return folder


def test_a_program_as_installed(database: Path, tmp_path: Path) -> None:
    assert origin(str(tmp_path / "tool"), "1", database) == "package tools:amd64, as installed"


def test_a_program_that_was_changed_since(database: Path, tmp_path: Path) -> None:
    (tmp_path / "tool").write_bytes(b"other")
    assert origin(str(tmp_path / "tool"), "2", database) == "changed since package tools:amd64 was installed"


def test_a_program_of_no_package_and_a_system_without_packages(database: Path, tmp_path: Path) -> None:
    assert origin(str(tmp_path / "mine"), "3", database) == "of no package"
    assert origin("/usr/bin/env", "4", tmp_path / "nowhere") == ""


@pytest.mark.skipif(not DATABASE.is_dir(), reason="this system has no Debian package database")
def test_the_real_database_knows_a_real_program() -> None:
    assert origin(str(Path("/usr/bin/env").resolve()), "5").startswith("package coreutils")
