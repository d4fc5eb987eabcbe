"""Policies by name and from files: what is unclear is refused, with file, line and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.backends.mounts import WorkspaceError, check_workspace
from sandbox.policies import PolicyError, find_policy, load_policy, named_policy
from sandbox.policy import PROTECTED, Network


def test_named_policies(tmp_path: Path) -> None:
    assert named_policy("workspace", tmp_path).writable
    assert not find_policy("read-only", tmp_path).writable
    with pytest.raises(PolicyError, match="'strictest'"):
        find_policy("strictest", tmp_path)


def test_a_whole_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "mine.toml"
    file.write_text(
        f'extends = "read-only"\nreadable = ["{tmp_path}/data"]\nprotected = ["deploy/"]\nnetwork = "full"\n'
        'env = ["CI"]\n[limits]\nwall_seconds = 2.5\nopen_files = 64\n'
    )
    policy = find_policy(str(file), tmp_path)
    assert policy.name == "mine" and not policy.writable and policy.network is Network.FULL
    assert policy.readable == (tmp_path / "data",) and policy.protected == (*PROTECTED, "deploy")
    assert "CI" in policy.env and policy.limits.wall_seconds == 2.5 and policy.limits.open_files == 64


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("writable = true\nwriteable = true\n", 2, "unknown key 'writeable'"),
        ("name = 5\n", 1, "name must be a text"),
        ("\nwritable = 'yes'\n", 2, "true or false"),
        ("extends = 'root'\n", 1, "'root'"),
        ("readable = '/data'\n", 1, "list of texts"),
        ("readable = ['data']\n", 1, "absolute"),
        ("readable = ['/no/such/folder']\n", 1, "does not exist"),
        ("readable = ['/']\n", 1, "whole home folder"),
        ("readable = ['/etc']\n", 1, "whole home folder"),
        ("protected = ['../x']\n", 1, "inside the workspace"),
        ("protected = ['/x']\n", 1, "inside the workspace"),
        ("network = 'example.com'\n", 1, "'example.com'"),
        ("network = true\n", 1, "network is"),
        ("env = ['LD_PRELOAD']\n", 1, "'LD_PRELOAD'"),
        ("limits = 5\n", 1, "table"),
        ("[limits]\nmemory = 5\n", 2, "unknown limit 'memory'"),
        ("[limits]\nopen_files = 0\n", 2, "above 0"),
        ("[limits]\nopen_files = true\n", 2, "whole number"),
        ("[limits]\nopen_files = 1.5\n", 2, "whole number"),
        ("writable = \n", 1, "line 1"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(PolicyError) as caught:
        load_policy(file, tmp_path)
    assert str(file) in str(caught.value) and f"line {line}" in str(caught.value) and says in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path, tmp_path)
    (tmp_path / "bad").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="bad"):
        load_policy(tmp_path / "bad", tmp_path)


@pytest.mark.parametrize("folder", ["/", "/usr", "/etc", "/tmp", "/proc", "/no/such"])
def test_folders_that_cannot_be_a_workspace(folder: str) -> None:
    with pytest.raises(WorkspaceError, match="folder"):
        check_workspace(Path(folder))
