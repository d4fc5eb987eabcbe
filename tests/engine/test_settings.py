from __future__ import annotations

import stat
from pathlib import Path

import pytest
import tomlkit
from hypothesis import HealthCheck, given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from engine.options import EngineOptions
from engine.parts import Stage
from engine.paths import Home
from engine.settings import PROJECT_FILE, SettingError, Settings, UiSettings, load, ui_settings, write_setting
from engine.trust import decision, is_trusted, project_files_needing_trust, trust


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    return path


def user(home: Home, text: str) -> None:
    home.config.mkdir(parents=True, exist_ok=True)
    home.settings.write_text(text, encoding="utf-8")


def project(folder: Path, text: str) -> None:
    path = folder / PROJECT_FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def warned(settings: Settings) -> str:
    return "\n".join(map(str, settings.warnings))


def test_without_any_file_the_defaults_hold(home: Home, folder: Path) -> None:
    settings = load(home, folder, {})
    assert settings.model == "" and settings.limits.repeats == 5 and settings.limits.turns is None
    assert set(settings.sources.values()) == {"default"} and not settings.warnings


def test_each_layer_goes_over_the_one_before_and_is_named(home: Home, folder: Path) -> None:
    user(home, 'model = "a/user"\napprove = "ask"\n[limits]\nturns = 5\ntool_calls = 6\ncost = 2\n')
    project(folder, 'approve = "rules"\n[limits]\nturns = 7\ntool_calls = 8\n')
    trust(home, folder, True)
    settings = load(home, folder, {"AGENT_TUI_LIMITS_TURNS": "9"}, EngineOptions(cwd=folder, max_turns=11))
    assert (settings.limits.turns, settings.sources["limits.turns"]) == (11, "command line")
    assert (settings.limits.tool_calls, settings.sources["limits.tool_calls"]) == (8, str(folder / PROJECT_FILE))
    assert (settings.limits.cost, settings.sources["limits.cost"]) == (2.0, str(home.settings))
    assert settings.approve == "rules" and settings.model == "a/user"
    from_env = load(home, folder, {"AGENT_TUI_LIMITS_TURNS": "9"})
    assert (from_env.limits.turns, from_env.sources["limits.turns"]) == (9, "environment")


def test_an_address_goes_with_the_model_it_was_named_with(home: Home, folder: Path) -> None:
    user(home, 'model = "openai-chat/mine"\nbase_url = "http://box/v1"\n')
    assert load(home, folder, {}, EngineOptions(cwd=folder, max_turns=3)).base_url == "http://box/v1"
    assert load(home, folder, {}, EngineOptions(cwd=folder, model="anthropic/x")).base_url == ""
    assert load(home, folder, {"AGENT_TUI_MODEL": "openai/x"}).base_url == ""
    moved = {"AGENT_TUI_MODEL": "openai/x", "AGENT_TUI_BASE_URL": "http://y"}
    assert load(home, folder, moved).base_url == "http://y"


def test_a_folder_nobody_trusted_sets_nothing_and_it_is_said(home: Home, folder: Path) -> None:
    project(folder, 'base_url = "http://evil.example"\n')
    settings = load(home, folder, {})
    assert settings.base_url == "" and "nobody has trusted" in warned(settings)
    trust(home, folder, True)
    assert load(home, folder, {}).base_url == "http://evil.example"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('modle = "x"\n', ":1: modle: not used: there is no such setting; did you mean model?"),
        ('# first\n\n[limits]\n# why\nturns = "many"\n', ":5: limits.turns: not used: must be a whole number"),
        ("[limits]\nturns = 0\n", ":2: limits.turns: not used: must be more than 0"),
        ("[limits]\ncost = nan\n", ":2: limits.cost: not used: must be more than 0"),
        ("[limits]\nturns = true\n", ":2: limits.turns: not used: must be a whole number"),
        ('approve = "always"\n', ":1: approve: not used: must be one of ask, deny"),
        ("limits = 3\n", ":1: limits: not used"),
        ("limits.turnz = 3\n", ":1: limits.turnz: not used"),
        ("[model]\nname = 1\n", ":1: model: not used: must be text, not a table"),
        ("[[ui]]\nanimations = true\n", ":1: ui: not used"),
        ("[providers.house]\nwire = 'gopher'\nbase_url = 'http://h'\n", ":2: providers.house.wire: not used"),
        ("[providers.house]\nwire = 'openai'\n", "providers.house: not used: base_url is missing"),
        ("[providers.house]\nbase_url = 'ftp://h'\n", "must begin with http"),
        ("[providers.script]\nbase_url = 'http://h'\n", "cannot be configured"),
        ("[providers]\nhouse = 3\n", ":2: providers.house: not used: must be a table"),
        ("providers = 3\n", ":1: providers: not used: must be a table of tables"),
        ("task = 3\n", ":1: task: not used: must be a table"),
        ("[task]\ndone_when = 3\n", ":2: task.done_when: not used: must be a list of conditions"),
        ("[task]\n\ndone_when = ['tests_pas']\n", ":3: task.done_when: not used: 'tests_pas', column 1"),
        ("[task]\nstages = 'look'\n", ":2: task.stages: not used: must be a list such as"),
        ("[[task.stages]]\nname = 'a'\nuntil = 'x'\n", ":1: task.stages: not used: 'x', column 1: there is no fact"),
        ("[[task.stages]]\nname = 'a'\nuntil = 'calls > 1'\ntool = 1\n", "a stage has no tool"),
        ("[[task.stages]]\nname = 'a'\nuntil = 'calls > 1'\ntools = ['x_']\n", "no tool's name begins with 'x_'"),
        ("[task]\ndone = 'calls > 1'\n", ":2: task.done: not used: there is no such setting"),
    ],
)
def test_a_bad_key_is_refused_with_its_place_and_the_rest_counts(
    home: Home, folder: Path, text: str, said: str
) -> None:
    user(home, text + "\n[ui]\nanimations = false\n" if "ui" not in text else text)
    settings = load(home, folder, {})
    assert str(home.settings) + said in warned(settings) or said in warned(settings)
    assert settings.model == "" and not settings.providers.get("script")
    assert "ui" in text or settings.ui.animations is False


def test_a_task_is_done_as_the_project_says_over_the_user(home: Home, folder: Path) -> None:
    stage = "[[task.stages]]\nname = 'look'\nuntil = 'calls >= 1'\ntools = ['fs_']\n"
    user(home, "[task]\ndone_when = ['todo_open == 0', 'nonsense']\n" + stage)
    project(folder, "[task]\ndone_when = 'tests_pass'\n")
    before, after = (load(home, folder, {}, trusted=trusted) for trusted in (False, True))
    assert before.task.done_when == ("todo_open == 0",)
    assert after.task.done_when == ("tests_pass",)
    assert after.task.stages == (Stage(name="look", until="calls >= 1", tools=("fs_",)),)


def test_a_file_that_is_no_toml_sets_nothing_and_names_the_line(home: Home, folder: Path) -> None:
    user(home, 'model = "a/b"\ntheme = \n')
    settings = load(home, folder, {})
    assert settings.model == "" and f"{home.settings}:2: not used, it is not TOML" in warned(settings)
    home.settings.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in warned(load(home, folder, {}))
    home.settings.unlink()
    home.settings.mkdir()
    assert "not used" in warned(load(home, folder, {}))


NESTED = st.recursive(
    st.integers() | st.text(max_size=5) | st.booleans() | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["model", "limits", "turns", "providers", "ui", "wire"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(data=st.dictionaries(st.sampled_from(["model", "limits", "providers", "ui", "x"]), NESTED, max_size=4))
@bounded(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_can_stop_the_app(home: Home, folder: Path, data: dict[str, object]) -> None:
    user(home, tomlkit.dumps(data))
    settings = load(home, folder, {})
    assert settings.limits.repeats and isinstance(settings.model, str) and warned(settings) is not None


@given(content=st.binary(max_size=60))
@bounded(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_can_stop_the_app(home: Home, folder: Path, content: bytes) -> None:
    home.config.mkdir(parents=True, exist_ok=True)
    home.settings.write_bytes(content)
    assert isinstance(load(home, folder, {}).model, str)
    assert isinstance(ui_settings(home, {}), UiSettings)


def test_a_bad_environment_value_is_refused_by_name(home: Home, folder: Path) -> None:
    settings = load(home, folder, {"AGENT_TUI_LIMITS_COST": "cheap", "AGENT_TUI_UI_ANIMATIONS": "no"})
    assert "AGENT_TUI_LIMITS_COST" in warned(settings) and settings.limits.cost is None
    assert settings.ui.animations is False


def test_a_provider_of_ones_own(home: Home, folder: Path) -> None:
    user(home, '[providers.house]\nbase_url = "https://h.example/v1"\nkey_env = "HOUSE_KEY"\ncontext_window = 9000\n')
    found = load(home, folder, {}).providers["house"]
    assert (found.wire, found.base_url, found.key_env, found.context_window) == (
        "openai-chat",
        "https://h.example/v1",
        "HOUSE_KEY",
        9000,
    )


def test_writing_keeps_comments_and_order(home: Home, folder: Path) -> None:
    user(home, '# mine\ntheme = "old"  # for the eyes\n\n[limits]\nturns = 3\n')
    write_setting(home, "theme", "new")
    write_setting(home, "limits.cost", 1.5)
    write_setting(home, "providers.house.base_url", "http://h")
    text = home.settings.read_text()
    assert text.startswith('# mine\ntheme = "new"  # for the eyes\n') and "turns = 3" in text
    settings = load(home, folder, {})
    assert settings.limits.cost == 1.5 and settings.providers["house"].base_url == "http://h" and not settings.warnings
    write_setting(home, "theme", None)
    assert load(home, folder, {}).ui.theme == ""
    assert list(home.config.iterdir()) == [home.settings], "nothing is left beside the file"


@pytest.mark.parametrize(("key", "value"), [("modle", "x"), ("limits.turns", "x"), ("limits.turns", -1), ("ui", True)])
def test_writing_nonsense_changes_nothing(home: Home, key: str, value: str | int) -> None:
    user(home, "# mine\n")
    with pytest.raises(SettingError):
        write_setting(home, key, value)
    assert home.settings.read_text() == "# mine\n"


def test_a_damaged_file_is_never_overwritten(home: Home) -> None:
    user(home, "theme = \n")
    with pytest.raises(SettingError, match="left alone"):
        write_setting(home, "theme", "x")
    assert home.settings.read_text() == "theme = \n"


def test_the_first_frame_reads_its_theme_and_minds_nothing(home: Home) -> None:
    assert ui_settings(home, {}) == UiSettings()
    user(home, 'theme = "dusk"\n[ui]\nanimations = false\n')
    assert ui_settings(home, {}) == UiSettings("dusk", False)
    assert ui_settings(home, {"AGENT_TUI_THEME": "dawn"}).theme == "dawn"
    user(home, 'theme = 3\nui = "x"\n')
    assert ui_settings(home, {}) == UiSettings()
    user(home, "theme = ")
    assert ui_settings(home, {}) == UiSettings()


def test_trust_is_for_one_folder_and_follows_links(home: Home, folder: Path, tmp_path: Path) -> None:
    assert decision(home, folder) is None
    trust(home, folder, True)
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert is_trusted(home, link) and not is_trusted(home, tmp_path) and not is_trusted(home, folder / "sub")
    trust(home, folder, False)
    assert decision(home, folder) is False


def test_a_damaged_record_trusts_nobody_and_is_kept(home: Home, folder: Path) -> None:
    home.data.mkdir()
    (home.data / "trust.json").write_text('{"folders": {"')
    assert decision(home, folder) is None
    trust(home, folder, True)
    assert is_trusted(home, folder)
    assert (home.data / "trust.damaged.json").read_text() == '{"folders": {"'
    assert stat.S_IMODE((home.data / "trust.json").stat().st_mode) == 0o600


def test_what_needs_trust_is_named(folder: Path) -> None:
    assert project_files_needing_trust(folder) == ()
    (folder / ".mcp.json").write_text("{}")
    (folder / ".claude" / "skills").mkdir(parents=True)
    assert project_files_needing_trust(folder) == (folder / ".mcp.json", folder / ".claude" / "skills")
