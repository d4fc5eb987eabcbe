"""All settings as a person looks at them: each with its value, who says so, and what it may be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.options import EngineOptions
from engine.paths import Home
from engine.settings import COMMAND_LINE, DEFAULT, ENVIRONMENT, PROJECT_FILE, Settings, SettingWarning, load
from engine.settings_file import known_key, line_of
from engine.settings_keys import KEYS
from engine.settings_shown import SettingProblem, SettingRow, SettingSaid, SettingsShown

STARTING_FILE = """\
# Settings of agent-tui. `agent-tui config show` lists every setting with its meaning and present value.
# Take away the # of a line to use it.

# model = "anthropic/claude-sonnet-5-5"
# approve = "ask"            # ask, deny, rules or sandboxed

[limits]
# turns = 50
# cost = 2.0                 # USD of one run

# [task]
# done_when = ["tests_pass == true", "todo_open == 0"]  # judged by code; best in a project's own .agent-tui/config.toml

# [keys]
# copy = "f7"                # any action of `agent-tui` by the key you like

# A provider of your own: its models are then called house/MODEL.
# [providers.house]
# wire = "openai-chat"       # openai-chat, openai or anthropic
# base_url = "https://models.example.com/v1"
# key_env = "HOUSE_API_KEY"  # the variable that holds the key, never the key itself
"""

PROVIDERS, TASK = "providers", "task"


def ready_file(home: Home) -> Path:
    """The person's settings file, made with examples in it if there is none. Raises OSError."""
    path = home.settings
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STARTING_FILE, encoding="utf-8")
    return path


def shown(home: Home, folder: Path, env: Mapping[str, str], options: EngineOptions | None = None) -> SettingsShown:
    """Every setting as it holds in ``folder``. Never raises for what the files hold."""
    settings = load(home, folder, env, options)
    project = folder / PROJECT_FILE
    view = _View(settings, home.settings, project)
    names = (*KEYS, *(name for name in settings.said if name not in KEYS))
    return SettingsShown(
        rows=(*map(view.row, names), *view.task()),
        problems=tuple(map(view.problem, settings.warnings)),
        keys=view.keys(),
        file=str(home.settings),
        project=str(project) if project.exists() else "",
    )


class _View:
    """Says where each value stands: in which file, on which line, in which variable."""

    def __init__(self, settings: Settings, user: Path, project: Path) -> None:
        self._settings = settings
        self._files = {str(user): "user", str(project): "project"}
        self._user = str(user)
        self._texts = {str(path): _text(path) for path in (user, project)}

    def row(self, name: str) -> SettingRow:
        key, settings = known_key(name), self._settings
        said = tuple(self._said(name, source, value) for source, value in settings.said.get(name, ()))
        return SettingRow(
            name=name,
            group=key.group or PROVIDERS,
            meaning=key.meaning,
            may_be=key.may_be,
            value=settings.values[name] if name in KEYS else said[-1].value,
            source=self._kind(settings.sources.get(name, DEFAULT)),
            default=key.default,
            said=said,
            choices=key.choices,
            switch=key.kind is bool,
            at_once=key.personal,
        )

    def task(self) -> tuple[SettingRow, ...]:
        """When tasks are done and the stages: lists, which a person writes in the file."""
        task = self._settings.task
        found = {"done_when": task.done_when or (), "stages": tuple(stage.name for stage in task.stages or ())}
        meanings = {
            "done_when": "conditions of being finished, judged by code",
            "stages": "the stages on the way there",
        }
        return tuple(self._task_row(f"task.{name}", meanings[name], values) for name, values in found.items())

    def _task_row(self, name: str, meaning: str, values: tuple[str, ...]) -> SettingRow:
        holds = [path for path, text in self._texts.items() if line_of(text, name)] if values else []
        said = tuple(self._said(name, path, ", ".join(values)) for path in holds[-1:])
        source = said[-1].source if said else DEFAULT
        return SettingRow(
            name, TASK, meaning, "a list in the file", ", ".join(values), source, "", said, editable=False
        )

    def keys(self) -> dict[str, tuple[str, int]]:
        text = self._texts[self._user]
        return {name: (keys, line_of(text, f"keys.{name}")) for name, keys in self._settings.keys.items()}

    def problem(self, warning: SettingWarning) -> SettingProblem:
        path = warning.source if warning.source in self._files else ""
        line = warning.line or (line_of(self._texts[path], warning.key) if path and warning.key else 0)
        return SettingProblem(path, line, warning.key, warning.reason)

    def _kind(self, source: str) -> str:
        return self._files.get(source, source)

    def _said(self, name: str, source: str, value: object) -> SettingSaid:
        where = KEYS[name].env if source == ENVIRONMENT else "" if source == COMMAND_LINE else source
        if line := line_of(self._texts.get(source, ""), name):
            where = f"{where}:{line}"
        return SettingSaid(self._kind(source), where, value if isinstance(value, str | int | float) else None)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""
