"""Stored rules can be seen and taken back from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandbox.risk import Risk
from sandbox.rulebook import RuleBook
from tui.main import main


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RuleBook:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    book = RuleBook(tmp_path / "config" / "rules.toml")
    book.add("allow shell make *", "make test", Risk.MEDIUM)
    book.add("allow write src/**", "src/a.py", Risk.MEDIUM)
    return book


def test_rules_are_listed_and_revoked_by_number_or_text(book: RuleBook, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "rules"]) == 0
    assert "make test" in capsys.readouterr().out
    assert main(["sandbox", "rules", "--revoke", "2"]) == 0
    assert main(["sandbox", "rules", "--revoke", "allow shell make *"]) == 0
    assert book.list() == ()


def test_json_and_a_rule_that_is_not_there(book: RuleBook, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "rules", "--json"]) == 0
    assert [row["rule"] for row in json.loads(capsys.readouterr().out)] == ["allow shell make *", "allow write src/**"]
    assert main(["sandbox", "rules", "--revoke", "9"]) == 2
    assert len(book.list()) == 2


def test_a_damaged_file_is_said_with_its_name(book: RuleBook, capsys: pytest.CaptureFixture[str]) -> None:
    book.path.write_text("[[rule]]\ntext = 1\n")
    assert main(["sandbox", "rules"]) == 2
    assert "rules.toml" in capsys.readouterr().err
