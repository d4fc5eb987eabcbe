"""The policies that come with the app, as files a person copies and changes, and the one a project brings."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from sandbox.policies import NAMES, PolicyError, load_policy, named_policy, session_policy
from sandbox.policy import PROTECTED, Network


def test_what_each_of_them_means(tmp_path: Path) -> None:
    workspace, read_only, strict = (named_policy(name, tmp_path) for name in NAMES)
    assert (workspace.writable, workspace.execute) == (True, True) and "node" in workspace.wx
    assert (read_only.writable, read_only.execute) == (False, True) and read_only.wx == workspace.wx
    assert (strict.writable, strict.execute, strict.wx) == (True, False, ())
    for policy in (workspace, read_only, strict):
        assert policy.network is Network.OFF and policy.protected == PROTECTED and policy.workspace == tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_is_the_same_policy_and_every_key_in_it_counts(tmp_path: Path, name: str) -> None:
    shipped = files("sandbox.policies").joinpath(f"{name}.toml").read_text()
    copy = tmp_path / "mine.toml"
    copy.write_text(f'extends = "{name}"\n{shipped}')
    assert replace(load_policy(copy, tmp_path), name=name) == named_policy(name, tmp_path)
    copy.write_text(shipped)
    without = load_policy(copy, tmp_path)
    assert replace(without, name=name) == named_policy(name, tmp_path)


def test_an_exception_can_be_taken_away_and_another_given(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('wx = ["ruby"]\nexecute = false\ndata = ["in"]\nprotected = ["deploy"]\n')
    policy = load_policy(file, tmp_path)
    assert policy.wx == ("ruby",) and not policy.execute and policy.data == ("in",)
    assert policy.protected == (*PROTECTED, "deploy")


def test_an_allow_list(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('network = "allow"\ndomains = ["PyPI.org", "*.example.com", "pypi.org"]\nports = [443]\n')
    policy = load_policy(file, tmp_path)
    assert policy.network is Network.ALLOW and policy.ports == (443,)
    assert policy.domains == ("pypi.org", "*.example.com")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("execute = 1\n", 1, "true or false"),
        ("data = ['/abs']\n", 1, "inside the workspace"),
        ("data = [\n  'fine',\n  '../up',\n]\n", 3, "inside the workspace"),
        ("wx = ['/usr/bin/node']\n", 1, "plain name"),
        ("wx = ['node', 'a b']\n", 1, "plain name"),
        ("wx = 'node'\n", 1, "list of texts"),
        ("network = 'allow'\n", 1, "names none"),
        ("domains = ['example.com']\n", 1, 'needs network = "allow"'),
        ("ports = [80]\n", 1, 'needs network = "allow"'),
        ("network = 'allow'\ndomains = ['192.168.0.1']\n", 2, "192.168.0.1"),
        ("network = 'allow'\ndomains = [\n  'fine.org',\n  '[::1]',\n]\n", 4, "::1"),
        ("network = 'allow'\ndomains = ['0x7f.1']\n", 2, "domains only"),
        ("network = 'allow'\ndomains = ['2130706433']\n", 2, "domains only"),
        ("network = 'allow'\ndomains = ['https://example.com']\n", 2, "URL"),
        ("network = 'allow'\ndomains = ['a.org']\nports = [0]\n", 3, "not a port"),
        ("network = 'allow'\ndomains = ['a.org']\nports = ['http']\n", 3, "not a port"),
        ("network = 'allow'\ndomains = ['a.org']\nports = [[]]\n", 3, "not a port"),
        ('readable = ["/tmp/\\u0000"]\n', 1, "NUL"),
        ("readable = ['~nobody-by-this-name/x']\n", 1, "path"),
        ("readable = ['/var']\n", 1, "whole home folder or system"),
        ("readable = ['" + "/x" * 3000 + "']\n", 1, "path"),
        ("[limits]\nwall_seconds = nan\n", 2, "above 0"),
        ("writeable = true\n", 1, "unknown key"),
        ("[wx]\nnode = true\n", 1, "list of texts"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(text)
    with pytest.raises(PolicyError) as caught:
        load_policy(file, tmp_path)
    said = str(caught.value)
    assert str(file) in said and f"line {line}:" in said and says in said


def test_a_projects_own_policy_counts_only_when_the_folder_is_trusted(tmp_path: Path) -> None:
    own = tmp_path / ".agent-tui" / "policy.toml"
    assert session_policy(tmp_path, trusted=True) == named_policy("workspace", tmp_path)
    own.parent.mkdir()
    own.write_text('extends = "strict"\nname = "theirs"\n')
    assert session_policy(tmp_path, trusted=True).name == "theirs"
    assert not session_policy(tmp_path, trusted=True).execute
    assert session_policy(tmp_path, trusted=False) == named_policy("workspace", tmp_path)
    own.write_text("nonsense = 1\n")
    assert session_policy(tmp_path, trusted=False, name="read-only").name == "read-only"
    with pytest.raises(PolicyError, match="nonsense"):
        session_policy(tmp_path, trusted=True)
