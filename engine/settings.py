"""Settings in layers: defaults, the user's file, the project's file (trusted folders only), environment, command line.

Each value knows where it came from. What cannot be used is refused key by key, with a warning; the rest still counts.
Importing this module is cheap: the first frame reads its theme with `ui_settings`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.options import EngineOptions
from engine.paths import Home
from engine.settings_file import FileContent, SettingWarning, known_key, read_file
from engine.settings_keys import KEYS, Key, SettingError, Value
from engine.settings_task import TaskSettings
from engine.settings_write import write_setting

if TYPE_CHECKING:
    from engine.events import Limits

__all__ = [
    "PROJECT_FILE",
    "ProviderSettings",
    "SettingError",
    "SettingWarning",
    "Settings",
    "UiSettings",
    "known_key",
    "load",
    "ui_of",
    "ui_settings",
    "write_setting",
]

PROJECT_FILE = Path(".agent-tui") / "config.toml"
UI_SWITCHES = ("animations", "title", "bell", "notify", "history")
DEFAULT, ENVIRONMENT, COMMAND_LINE = "default", "environment", "command line"


@dataclass(frozen=True, slots=True)
class UiSettings:
    """What the screens need. An empty theme is the first of ours. keys: action to the keys a person chose for it."""

    theme: str = ""
    animations: bool = True
    title: bool = True
    bell: bool = True
    notify: bool = True
    history: bool = True
    keys: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """A provider of the person's own, or changes to a known one.

    wire: anthropic, openai or openai-chat; empty for a known provider's own. key_env: the variable that holds its key.
    """

    name: str
    wire: str = ""
    base_url: str = ""
    key_env: str = ""
    context_window: int | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, resolved. ``sources``: setting to default, a file, environment or command line. ``said``: setting
    to what each source says of it, (source, value), the one that holds last; ``keys``: the person's own for actions."""

    values: Mapping[str, Value]
    sources: Mapping[str, str]
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    warnings: tuple[SettingWarning, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict)
    task: TaskSettings = field(default_factory=TaskSettings)
    said: Mapping[str, tuple[tuple[str, Value], ...]] = field(default_factory=dict)

    @property
    def model(self) -> str:
        return str(self.values["model"])

    @property
    def base_url(self) -> str:
        return str(self.values["base_url"])

    @property
    def approve(self) -> str:
        """ask, deny, rules or sandboxed; empty: ask in the workbench, rules in ``run``."""
        return str(self.values["approve"])

    @property
    def sandbox(self) -> str:
        return str(self.values["sandbox"])

    @property
    def context_window(self) -> int | None:
        """Tokens, None: what is known of the model."""
        value = self.values["context_window"]
        return value if isinstance(value, int) else None

    @property
    def limits(self) -> Limits:
        from engine.events import Limits

        names = Limits.model_fields
        return Limits.model_validate({name: self.values[f"limits.{name}"] for name in names})

    @property
    def ui(self) -> UiSettings:
        return ui_of(self.values, self.keys)


def load(
    home: Home,
    folder: Path,
    env: Mapping[str, str],
    options: EngineOptions | None = None,
    *,
    trusted: bool | None = None,
) -> Settings:
    """The settings for work in ``folder``. ``trusted`` None looks up whether a person trusted it. Never raises for what
    the files hold: see ``Settings.warnings``."""
    from engine.trust import is_trusted

    layers = _Layers()
    layers.file(str(home.settings), read_file(home.settings))
    project = folder / PROJECT_FILE
    if is_trusted(home, folder) if trusted is None else trusted:
        layers.file(str(project), read_file(project, personal=False))
    elif project.exists():
        layers.warnings.append(
            SettingWarning(str(project), 0, "", "not used: nobody has trusted this folder yet; /trust does")
        )
    layers.environment(env)
    if options is not None:
        layers.options(options)
    return layers.settings()


def ui_settings(home: Home, env: Mapping[str, str]) -> UiSettings:
    """Only what the first frame needs, from the user's file and the environment, without a word about mistakes."""
    try:
        data = tomllib.loads(home.settings.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        data = {}
    ui = data.get("ui")
    table = ui if isinstance(ui, dict) else {}
    found = {"theme": data.get("theme")} | {f"ui.{name}": table.get(name) for name in UI_SWITCHES}
    keys = data.get("keys")
    chosen = {name: text for name, text in keys.items() if isinstance(text, str)} if isinstance(keys, dict) else {}
    return ui_of({name: _first(KEYS[name], env.get(KEYS[name].env), value) for name, value in found.items()}, chosen)


def ui_of(values: Mapping[str, Value], keys: Mapping[str, str]) -> UiSettings:
    """What ``values`` (setting to value, all of them) and a person's own ``keys`` come to for the screens."""
    switches = {name: bool(values[f"ui.{name}"]) for name in UI_SWITCHES}
    return UiSettings(str(values["theme"]), keys=keys, **switches)


class _Layers:
    """Values as they pile up, the later over the earlier."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {name: key.default for name, key in KEYS.items()}
        self._sources = dict.fromkeys(KEYS, DEFAULT)
        self._providers: dict[str, dict[str, Value]] = {}
        self._provider_sources: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._task = TaskSettings()
        self._said: dict[str, list[tuple[str, Value]]] = {}
        self.warnings: list[SettingWarning] = []

    def file(self, source: str, content: FileContent) -> None:
        self._add(source, content.values)
        self._keys.update(content.keys)
        self._task = content.task.over(self._task)
        for name, keys in content.providers.items():
            self._providers.setdefault(name, {}).update(keys)
            self._provider_sources.update({f"providers.{name}.{key}": source for key in keys})
            for key, value in keys.items():
                self._said.setdefault(f"providers.{name}.{key}", []).append((source, value))
        self.warnings.extend(content.warnings)

    def environment(self, env: Mapping[str, str]) -> None:
        found: dict[str, Value] = {}
        for name, key in KEYS.items():
            try:
                if text := env.get(key.env, ""):
                    found[name] = key.read(text)
            except SettingError as error:
                self.warnings.append(SettingWarning(ENVIRONMENT, 0, key.env, f"not used: {error}"))
        self._add(ENVIRONMENT, found)

    def options(self, options: EngineOptions) -> None:
        given = ((name, getattr(options, key.option)) for name, key in KEYS.items() if key.option)
        self._add(COMMAND_LINE, {name: value for name, value in given if value not in ("", None)})

    def settings(self) -> Settings:
        providers = {name: self._provider(name, keys) for name, keys in self._providers.items()}
        known = {name: found for name, found in providers.items() if found is not None}
        sources = {**self._sources, **self._provider_sources}
        said = {name: tuple(found) for name, found in self._said.items()}
        return Settings(self._values, sources, known, tuple(self.warnings), self._keys, self._task, said)

    def _add(self, source: str, values: Mapping[str, Value]) -> None:
        if "model" in values:
            # An address belongs to the model it was named with: another model must not be sent there.
            self._values["base_url"], self._sources["base_url"] = KEYS["base_url"].default, DEFAULT
        for name, value in values.items():
            self._values[name] = value
            self._sources[name] = source
            self._said.setdefault(name, []).append((source, value))

    def _provider(self, name: str, keys: Mapping[str, Value]) -> ProviderSettings | None:
        from engine.models.spec import PROVIDERS

        source = next((s for key, s in self._provider_sources.items() if key.startswith(f"providers.{name}.")), "")
        url = str(keys.get("base_url") or "")
        problem = ""
        if name in ("local", "script"):
            problem = "this provider runs in the app itself and cannot be configured"
        elif not name or "/" in name:
            problem = "the name of a provider must not be empty or contain a slash"
        elif url and not url.startswith(("http://", "https://")):
            problem = f"base_url must begin with http:// or https://, not {url!r}"
        elif not url and name not in PROVIDERS:
            problem = "base_url is missing"
        if problem:
            self.warnings.append(SettingWarning(source, 0, f"providers.{name}", f"not used: {problem}"))
            return None
        window = keys.get("context_window")
        return ProviderSettings(
            name=name,
            wire=str(keys.get("wire") or ("" if name in PROVIDERS else "openai-chat")),
            base_url=url,
            key_env=str(keys.get("key_env") or ""),
            context_window=window if isinstance(window, int) else None,
        )


def _first(key: Key, text: str | None, value: object) -> Value:
    """The first that fits of an environment text and a file's value, else the default."""
    try:
        if text:
            return key.read(text)
    except SettingError:
        pass
    try:
        return key.default if value is None else key.check(value)
    except SettingError:
        return key.default
