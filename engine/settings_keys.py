"""Every setting there is: its name, type, default and meaning. Plain data, cheap to import before the first frame."""

from __future__ import annotations

from dataclasses import dataclass

Value = str | int | float | bool | None

ENV_PREFIX = "AGENT_TUI_"


class SettingError(ValueError):
    """A setting cannot be what was asked for; the message says why."""


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. ``option``: the field of EngineOptions that overrides it. Numbers must be more than 0."""

    name: str
    kind: type[str] | type[int] | type[float] | type[bool]
    default: Value
    meaning: str
    choices: tuple[str, ...] = ()
    option: str = ""

    @property
    def env(self) -> str:
        """The environment variable that sets it: ``limits.turns`` is AGENT_TUI_LIMITS_TURNS."""
        return ENV_PREFIX + self.name.replace(".", "_").upper()

    def check(self, value: object) -> Value:
        """``value`` as this setting holds it, or SettingError."""
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not self.kind:
            raise SettingError(f"must be {_WORDS[self.kind]}, not {_shown(value)}")
        if isinstance(value, int | float) and not isinstance(value, bool) and not 0 < value < float("inf"):
            raise SettingError(f"must be more than 0, not {value}")
        if self.choices and value not in self.choices:
            raise SettingError(f"must be one of {', '.join(self.choices)}, not {value!r}")
        return value

    def read(self, text: str) -> Value:
        """The value a text (an environment variable, an argument) stands for, or SettingError."""
        if self.kind is bool:
            word = text.strip().lower()
            if word not in _BOOLS:
                raise SettingError(f"must be true or false, not {text!r}")
            return _BOOLS[word]
        try:
            return self.check(self.kind(text.strip()))
        except ValueError as error:
            if isinstance(error, SettingError):
                raise
            raise SettingError(f"must be {_WORDS[self.kind]}, not {text!r}") from error


_WORDS: dict[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
_BOOLS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}

KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("model", str, "", "provider/model of new sessions; empty: the best that is found", option="model"),
        Key("base_url", str, "", "server of that model, where it is not the provider's own", option="base_url"),
        Key(
            "approve",
            str,
            "",
            "what happens when the gate would ask; empty: ask in the workbench, rules in run",
            ("ask", "deny", "rules", "sandboxed"),
            "approve",
        ),
        Key("sandbox", str, "", "backend that contains processes; empty: the best that works", option="sandbox"),
        Key("theme", str, "", "name of the theme; empty: the first of ours", option="theme"),
        Key("context_window", int, None, "tokens, instead of what is known of the model", option="context_window"),
        Key("compaction", str, "auto", "auto: make room as the window fills; off: only when asked", ("auto", "off")),
        Key("limits.turns", int, None, "turns of one run", option="max_turns"),
        Key("limits.tool_calls", int, None, "tool calls of one run", option="max_tool_calls"),
        Key("limits.tokens", int, None, "tokens of one run, prompt and answers", option="max_tokens"),
        Key("limits.cost", float, None, "USD of one run", option="max_cost"),
        Key(
            "limits.seconds",
            float,
            None,
            "seconds of work in one run, waiting for people left out",
            option="max_seconds",
        ),
        Key("limits.repeats", int, 5, "times the very same call may follow itself"),
        Key("ui.animations", bool, True, "let things move on screen"),
        Key("ui.title", bool, True, "say in the terminal's title how things stand"),
        Key("ui.bell", bool, True, "ring when something waits for you and you look elsewhere"),
        Key("ui.notify", bool, True, "ask the terminal for a desktop notification then"),
        Key("ui.history", bool, True, "keep what you say, and an unsent draft, for the next start"),
    )
}

PROVIDER_KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("wire", str, "openai-chat", "format it speaks", ("anthropic", "openai", "openai-chat")),
        Key("base_url", str, "", "its URL"),
        Key("key_env", str, "", "environment variable that holds its key"),
        Key("context_window", int, None, "tokens its models hold"),
    )
}


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        return "a list"
    return repr(value)
