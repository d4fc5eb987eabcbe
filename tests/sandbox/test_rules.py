"""Approval rules: what they say, and above all what they do not say."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.classify import commands
from sandbox.risk import Risk
from sandbox.rulebook import RuleBook
from sandbox.rules import RuleError, admits, forbids, parse_rule, suggest_path, suggest_shell, try_rule

LOG = parse_rule("allow shell git log *")


def allowed(text: str, command: str, risk: Risk = Risk.MEDIUM) -> bool:
    return admits([parse_rule(text, Risk.HIGH)], "command", command, risk) is not None


@pytest.mark.parametrize("command", ["git log", "git log -5", "git log --oneline 'a b'", "git log; git log -1"])
def test_a_rule_admits_what_it_names(command: str) -> None:
    assert admits([LOG], "command", command, Risk.MEDIUM) is LOG


@pytest.mark.parametrize(
    "command",
    [
        "git log; rm -rf x",
        "git log\nrm -rf x",
        "git log && git push",
        "git log $(rm x)",
        "git log `rm x`",
        "git log | sh",
        "git log > ~/.bashrc",
        "git log >x",
        "git log < x",
        "git -c core.pager=evil log",
        "GIT_PAGER=evil git log",
        "env git log",
        "sudo git log",
        "git log &",
        "git log & rm x",
        "/tmp/git log",
        "./git log",
        "git 'log;rm'",
        "git logs",
        "git $x",
        "git log ${x:-$(rm y)}",
        "(git log)",
        "{ git log; }",
        "if git log; then rm x; fi",
        "git log <(rm x)",
        "git log *",
        "",
        " ",
    ],
)
def test_a_rule_admits_nothing_else(command: str) -> None:
    assert admits([LOG], "command", command, Risk.MEDIUM) is None


def test_every_part_of_a_line_needs_its_rule() -> None:
    rules = [LOG, parse_rule("allow shell wc *")]
    assert admits(rules, "command", "git log | wc -l", Risk.MEDIUM)
    assert not admits(rules, "command", "git log | wc -l | sh", Risk.MEDIUM)


def test_a_wildcard_stands_for_words_or_for_part_of_one() -> None:
    assert allowed("allow shell pytest tests/*", "pytest tests/test_a.py")
    assert not allowed("allow shell pytest tests/*", "pytest tests/a tests/b")
    assert not allowed("allow shell pytest tests/*", "pytest src")
    assert allowed("allow shell echo '*'", "echo '*'")
    assert not allowed("allow shell echo '*'", "echo anything")
    assert not allowed("allow shell make", "make install")


def test_a_rule_stops_at_the_risk_it_was_confirmed_for() -> None:
    confirmed = parse_rule("allow shell git push *", Risk.HIGH)
    by_hand = parse_rule("allow shell git push *")
    assert admits([confirmed], "command", "git push origin main", Risk.HIGH)
    assert not admits([by_hand], "command", "git push origin main", Risk.HIGH)
    assert not admits([LOG], "command", "git log", Risk.HIGH)


@pytest.mark.parametrize(
    ("command", "denied"),
    [
        ("curl example.com", True),
        ("ls; curl example.com", True),
        ("x=$(curl example.com)", True),
        ("echo 'x' | 'curl' y", True),
        ("if true; then curl x; fi", True),
        ("curly x", False),
        ("cat curl.md", False),
        ("ls", False),
    ],
)
def test_a_deny_rule_holds_in_every_part(command: str, denied: bool) -> None:
    assert (forbids([parse_rule("deny shell curl *")], "command", command) is not None) == denied


@pytest.mark.parametrize(
    ("text", "path", "fits"),
    [
        ("allow write src/**", "src/a.py", True),
        ("allow write src/**", "src/deep/er/a.py", True),
        ("allow write src/**", "srcs/a.py", False),
        ("allow write src/**", "src", False),
        ("allow write src/*.py", "src/a.py", True),
        ("allow write src/*.py", "src/b/a.py", False),
        ("allow write **/test_*.py", "a/b/test_x.py", True),
        ("allow write README.md", "README.md", True),
        ("allow write README.md", "READMEXmd", False),
    ],
)
def test_rules_for_files(text: str, path: str, fits: bool) -> None:
    assert (admits([parse_rule(text)], "write", path, Risk.MEDIUM) is not None) == fits
    assert admits([parse_rule(text)], "read", path, Risk.MEDIUM) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "begins with allow or deny"),
        ("permit shell ls", "'permit'"),
        ("allow", "shell, write or read"),
        ("allow run ls", "'run'"),
        ("allow shell", "nothing follows"),
        ("allow shell *", "program itself"),
        ("allow shell g*t log", "program itself"),
        ("allow shell git log; rm x", "one command"),
        ("allow shell git log | sh", "one command"),
        ("allow shell git log &", "one command"),
        ("allow shell git log > x", "redirections"),
        ("allow shell A=b git log", "NAME=value"),
        ("allow shell git $x", "only * is a wildcard"),
        ("allow shell ls ~/x", "only * is a wildcard"),
        ("allow shell ls a?", "only * is a wildcard"),
        ("allow shell git $(x)", "cannot be read"),
        ("allow shell git 'log", "cannot be read"),
        ("allow shell git log\nallow shell rm *", "one line"),
        ("allow write /etc/passwd", "inside the workspace"),
        ("allow write ../x", "inside the workspace"),
        ("allow write ~/x", "inside the workspace"),
        ("allow write a**b", "stands alone"),
    ],
)
def test_a_wrong_rule_says_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("argv", "risk", "rule"),
    [
        (("git", "commit", "-m", "x"), Risk.MEDIUM, "allow shell git commit *"),
        (("pytest", "-q"), Risk.MEDIUM, "allow shell pytest *"),
        (("python3", "build.py", "--all"), Risk.MEDIUM, "allow shell python3 build.py *"),
        (("python3", "-c", "print(1)"), Risk.MEDIUM, "allow shell python3 -c 'print(1)'"),
        (("git", "push", "origin", "main"), Risk.HIGH, "allow shell git push origin main"),
        (("rm", "-rf", "a b"), Risk.HIGH, "allow shell rm -rf 'a b'"),
        (("echo", "a\nb"), Risk.MEDIUM, ""),
    ],
)
def test_suggestions(argv: tuple[str, ...], risk: Risk, rule: str) -> None:
    assert suggest_shell(argv, risk) == rule


WORD = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), max_size=12)


@settings(max_examples=150, deadline=None)
@given(st.lists(WORD, min_size=1, max_size=4), st.sampled_from([Risk.MEDIUM, Risk.HIGH]))
def test_a_suggested_rule_can_be_read_and_admits_what_it_was_made_for(argv: list[str], risk: Risk) -> None:
    text = suggest_shell(tuple(argv), risk)
    line = shlex.join(argv)
    if text and commands(line) == (tuple(argv),):
        assert admits([parse_rule(text, risk)], "command", line, risk)


def test_suggestions_for_files() -> None:
    assert suggest_path("write", "src/auth/a.py") == "allow write src/auth/**"
    assert suggest_path("write", "README.md") == "allow write README.md"
    assert suggest_path("write", "a\nb/c") == ""


def test_trying_a_rule_on_recent_commands(tmp_path: Path) -> None:
    ran = ["git log -5", "git log; ls", "git push origin main", "ls"]
    assert try_rule("allow shell git log *", ran, tmp_path) == ("git log -5",)
    assert try_rule("allow shell git push *", ran, tmp_path) == ()
    assert try_rule("allow shell git push origin main", ran, tmp_path) == ("git push origin main",)
    assert try_rule("deny shell git log *", ran) == ("git log -5", "git log; ls")
    with pytest.raises(RuleError):
        try_rule("allow everything", ran)


def test_the_book_keeps_when_and_why_and_what_people_wrote(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "rules.toml"
    book = RuleBook(path)
    assert book.list() == ()
    book.add("allow shell git log *", "git log -5", Risk.MEDIUM)
    path.write_text("# my own words\n" + path.read_text())
    book.add("allow shell git push origin main", "git push origin main", Risk.HIGH)
    book.add("allow shell git log *", "git log -6", Risk.MEDIUM)
    stored = RuleBook(path).list()
    assert [entry.rule.text for entry in stored] == ["allow shell git log *", "allow shell git push origin main"]
    assert [entry.request for entry in stored] == ["git log -5", "git push origin main"]
    assert stored[1].rule.ceiling is Risk.HIGH and stored[0].added.startswith("20")
    assert "# my own words" in path.read_text() and path.stat().st_mode & 0o777 == 0o600
    assert book.revoke("allow shell git log *") and not book.revoke("allow shell git log *")
    assert [entry.rule.text for entry in book.list()] == ["allow shell git push origin main"]
    assert "# my own words" in path.read_text()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[rule]\n", "line 1"),
        ("x = 1\n", "unknown entry 'x'"),
        ("[rule]\ntext = 'allow shell ls'\n", "[[rule]] tables"),
        ("[[rule]]\n", "rule 1"),
        ("[[rule]]\ntext = 'allow shell ls'\n[[rule]]\ntext = 'allow nothing'\n", "rule 2"),
        ("[[rule]]\ntext = 'allow shell ls'\nuntil = 'x'\n", "unknown key 'until'"),
        ("[[rule]]\ntext = 'allow shell ls'\nrisk = 'huge'\n", "'huge'"),
    ],
)
def test_a_broken_book_names_file_and_place(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(text)
    with pytest.raises(RuleError) as caught:
        RuleBook(path).rules()
    assert str(path) in str(caught.value) and says in str(caught.value)
    assert path.read_text() == text
