"""The shell command classifier: a large table of commands, exact argument vectors, hostile text, and places."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.classify import classify, commands, plan
from sandbox.risk import Assessment, Risk

HOME = Path("/home/someone")
_ESCAPE = re.compile(r"\\(?:\\|n|r|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
_SIMPLE = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}


def unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: _SIMPLE.get(m[0]) or chr(int(m[0][2:], 16)), text)


def table() -> list[tuple[str, str]]:
    lines = Path(__file__).with_name("commands.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(unescaped(command), risk) for command, risk, _why in rows]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


def judged(command: str, workspace: Path, cwd: str = ".") -> Assessment:
    return classify(command, workspace=workspace, cwd=cwd, home=HOME)


def test_every_command_of_the_table_gets_its_risk(workspace: Path) -> None:
    wrong = []
    for command, wanted in table():
        found = judged(command, Path("/srv/project")).risk
        fine = found >= Risk.MEDIUM if wanted == "medium+" else found is Risk.parse(wanted)
        if not fine:
            wrong.append(f"{command!r}: {found.word}, wanted {wanted}")
    assert not wrong, "\n".join(wrong)


def test_the_table_is_large_enough_to_mean_something() -> None:
    risks = [risk for _, risk in table()]
    assert len(risks) > 500
    assert min(risks.count(risk) for risk in ("low", "medium", "high")) > 100


def test_spots_are_ordered_ranges_inside_the_line_and_cover_what_is_risky(workspace: Path) -> None:
    for command, _ in table():
        spots = judged(command, workspace).spots
        assert all(0 <= start < end <= len(command) for start, end in spots)
        assert all(first[1] < second[0] for first, second in zip(spots, spots[1:], strict=False))
    line = "ls -la && rm -rf büild; grep größe f && git push"
    underlined = [line[start:end] for start, end in judged(line, workspace).spots]
    assert underlined == ["rm -rf büild", "git push"]


def test_spots_stay_right_when_the_tree_counts_bytes(workspace: Path) -> None:
    line = "echo „größe“ $(ls) > /etc/x"
    underlined = [line[start:end] for start, end in judged(line, workspace).spots]
    assert underlined == ["$(ls)", "> /etc/x"]


def test_reasons_and_effects_are_words_for_a_person(workspace: Path) -> None:
    found = judged("rm -rf build && git push origin main", workspace)
    assert found.effects[0] == "deletes build"
    assert "sends commits to origin" in found.effects
    assert any("cannot be taken back" in reason for reason in found.reasons)
    assert judged("pytest -q", workspace).effects == ("runs the project's tests",)
    assert judged("ls", workspace).reasons == ("only reads",)
    for command, _ in table():
        found = judged(command, workspace)
        assert found.reasons and len(found.reasons) <= 8
        assert all(reason.strip() for reason in (*found.reasons, *found.effects))


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "touch f",
        "pytest",
        "rm -rf build",
        "python3 -c 'print(1)'",
        "echo x > src/f",
        "npm test",
        "echo x > /tmp/f",
    ],
)
def test_what_stays_in_the_workspace_is_contained(command: str) -> None:
    assert classify(command, workspace=Path("/srv/project"), home=HOME).contained


@pytest.mark.parametrize(
    "command",
    [
        "pip install x",
        "curl https://h",
        "git push",
        "git fetch",
        "sudo ls",
        "docker ps",
        "rm -rf /",
        "rm -rf ~",
        "cp x /etc/y",
        "cp x ../y",
        "touch ../y",
        "echo x > ../y",
        "echo x > ~/y",
        'echo x > "$HOME/y"',
        "cd .. && touch y",
        "cd /srv && echo x > y",
        "mv /etc/hosts x",
        "tar xf x.tar -C /opt",
        "kill 1",
        "cat ~/.ssh/id_rsa",
        "unknowntool --out /opt/x",
        "ls (",
        "echo x > $F",
        "tee ~root/x",
    ],
)
def test_what_leaves_the_workspace_is_not_contained(command: str, workspace: Path) -> None:
    assert not judged(command, workspace).contained


def test_writes_through_a_link_that_leads_out_are_found(workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "outbox").symlink_to(outside)
    for command in ("echo x > outbox/f", "cp a outbox/f", "touch outbox/f", "cd outbox && touch f"):
        found = judged(command, workspace)
        assert found.risk is Risk.HIGH and not found.contained, command


def test_private_files_are_found_through_a_link(workspace: Path, tmp_path: Path) -> None:
    keys = tmp_path / "home" / ".ssh"
    keys.mkdir(parents=True)
    (keys / "id_rsa").write_text("key")
    (workspace / "innocent").symlink_to(keys / "id_rsa")
    assert judged("cat innocent", workspace).risk is Risk.HIGH


def test_relative_paths_are_read_from_where_the_command_runs(workspace: Path) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    assert judged("touch ../x", workspace, cwd="a/b").contained
    assert not judged("touch ../x", workspace, cwd=".").contained
    assert not judged("touch x", workspace, cwd="/srv").contained
    assert judged("cd a && touch ../x", workspace, cwd="a").contained


def test_the_files_that_run_later_are_protected(workspace: Path) -> None:
    for path in (
        ".git/hooks/pre-commit",
        ".git/config",
        ".agent-tui/config.toml",
        ".mcp.json",
        "./.git/../.git/config",
    ):
        assert judged(f"echo x > {path}", workspace).risk is Risk.HIGH, path
        assert judged(f"cp x {path}", workspace).risk is Risk.HIGH, path


@pytest.mark.parametrize(
    "settings",
    [
        "[core]\n\tfsmonitor = touch M\n",
        "[core] fsmonitor = touch M\n",
        '[diff "x]y"] textconv = touch M\n',
        "[include]\n\tpath = ../evil\n",
        '[filter "x"]\n\tclean = touch M\n',
        "[core]\n\tFSMonitor=touch M\n",
        "[core]\n\thooksPath = evil\n",
        '[remote "o"]\n\turl = ext::sh -c touch\n',
    ],
)
def test_reading_a_repository_whose_settings_run_programs_is_not_low(workspace: Path, settings: str) -> None:
    git = workspace / "evil" / ".git"
    git.mkdir(parents=True)
    config = git / "config"
    config.write_text('[core]\n\tbare = false\n[remote "origin"]\n\turl = https://h/x\n[user]\n\tname = x\n')
    for command in ("git -C evil status", "cd evil && git status"):
        assert judged(command, workspace).risk is Risk.LOW, command
    config.write_text(settings)
    for command in ("git -C evil status", "cd evil && git status", "cd evil/sub || git -C evil diff"):
        assert judged(command, workspace).risk >= Risk.MEDIUM, command
    assert judged("git -C evil -C . status", workspace).risk >= Risk.MEDIUM
    assert judged("git status", workspace).risk is Risk.LOW
    assert judged("git status", workspace, cwd="evil").risk >= Risk.MEDIUM


def test_lfs_settings_are_usual(workspace: Path) -> None:
    git = workspace / ".git"
    git.mkdir()
    (git / "config").write_text('[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n')
    assert judged("git status", workspace).risk is Risk.LOW
    (git / "config").write_text('[filter "lfs"]\n\tclean = git-lfs clean -- %f; touch M\n')
    assert judged("git status", workspace).risk >= Risk.MEDIUM


def test_plan_is_the_exact_argument_vector_of_one_plain_command() -> None:
    assert plan("git log -3") == ("git", "log", "-3")
    assert plan("  grep -n 'a b' \"c d\" e\\ f g''h  ") == ("grep", "-n", "a b", "c d", "e f", "gh")
    assert plan(r'cat "a\"b" "c\d" \$x') == ("cat", 'a"b', r"c\d", "$x")
    assert plan("git show stash@{0} HEAD~2 a=b {}") == ("git", "show", "stash@{0}", "HEAD~2", "a=b", "{}")
    assert plan("ls ''") == ("ls", "")
    assert plan("ls;") == ("ls",)
    assert plan("ls # comment") == ("ls",)
    assert plan("grep 'a\nb' f") == ("grep", "a\nb", "f")


@pytest.mark.parametrize(
    "command",
    [
        *(
            "",
            " ",
            "#",
            "ls | wc",
            "ls; ls",
            "ls && ls",
            "ls &",
            "ls > f",
            "ls 2>&1",
            "ls < f",
            "A=1 ls",
            "A=1",
            "ls $X",
            "ls ~",
        ),
        *(
            "ls *",
            "ls a?b",
            "ls [ab]",
            "ls {a,b}",
            "ls {1..3}",
            "ls $(x)",
            "ls `x`",
            "ls $'x'",
            'ls "$X"',
            "cd x",
            "exit",
            "eval ls",
        ),
        *(
            "! ls",
            "time ls",
            "if ls",
            "echo x",
            "ls \\\n x",
            "(ls)",
            "{ ls; }",
            "ls 'x",
            'ls "x',
            "ls \\",
            "''",
            "ls a=~",
            "[[ a ]]",
        ),
        *(
            "ls\0",
            "ls\r",
            "\u202els",
            "ls \ud800",
            "fi",
            "ls |",
            "&& ls",
            "ls\nls",
            "ls;;",
            "ls <<< x",
            "export X",
            "ls ~/x",
        ),
    ],
)
def test_there_is_no_plan_for_what_needs_a_shell(command: str) -> None:
    assert plan(command) is None


def test_commands_lists_every_plain_command() -> None:
    assert commands("cd a && git log | head -3; ls\npwd || true") == (
        ("cd", "a"),
        ("git", "log"),
        ("head", "-3"),
        ("ls",),
        ("pwd",),
        ("true",),
    )
    assert commands("git add x && git push") == (("git", "add", "x"), ("git", "push"))
    assert commands("git log; rm -rf x") == (("git", "log"), ("rm", "-rf", "x"))
    assert commands("git log\nrm -rf x") == (("git", "log"), ("rm", "-rf", "x"))
    for command in (
        "git log $(rm x)",
        "git log > ~/.bashrc",
        "A=1 git log",
        "git log & rm x",
        "! git log",
        "git log |& sh",
        "",
    ):
        assert commands(command) is None, command
    for command in ("time rm x", "if git log", "git log; fi", "(git log)", "git log <(rm x)", "git log *"):
        assert commands(command) is None, command


def test_importing_the_classifier_loads_no_parser() -> None:
    code = "import sys, sandbox.classify; print([name for name in sys.modules if name.startswith('tree_sitter')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
