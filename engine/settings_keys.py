"""Every setting there is: its name, type, default and meaning. Plain data, cheap to import before the first frame."""

from __future__ import annotations

from dataclasses import dataclass

Value = str | int | float | bool | None

ENV_PREFIX = "AGENT_TUI_"


class SettingError(ValueError):
    """A setting cannot be what was asked for; the message says why."""


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. ``option``: the field of EngineOptions that overrides it. Numbers must be more than 0. ``group``:
    what it is about. ``personal``: it concerns the person's own screen, so that no project may set it; a change is seen
    at once."""

    name: str
    kind: type[str] | type[int] | type[float] | type[bool]
    default: Value
    meaning: str
    choices: tuple[str, ...] = ()
    option: str = ""
    group: str = ""
    personal: bool = False

    @property
    def env(self) -> str:
        """The environment variable that sets it: ``limits.turns`` is AGENT_TUI_LIMITS_TURNS."""
        return ENV_PREFIX + self.name.replace(".", "_").upper()

    @property
    def may_be(self) -> str:
        """What it may be, in words."""
        if self.choices:
            return ", ".join(self.choices)
        return _WORDS[self.kind] + (" more than 0" if self.kind in (int, float) else "")

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

MODEL, APPROVALS, LIMITS, WINDOW, LOOK, ATTENTION = (
    "model", "approvals & sandbox", "limits", "compaction", "look", "attention",
)  # fmt: skip

KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("model", str, "", "provider/model of new sessions; empty: the best that is found", (), "model", MODEL),
        Key("base_url", str, "", "server of that model, where it is not the provider's own", (), "base_url", MODEL),
        Key("context_window", int, None, "tokens, instead of what is known of the model", (), "context_window", MODEL),
        Key(
            "approve",
            str,
            "",
            "what happens when the gate would ask; empty: ask in the workbench, rules in run",
            ("ask", "deny", "rules", "sandboxed"),
            "approve",
            APPROVALS,
        ),
        Key(
            "sandbox",
            str,
            "",
            "backend that contains processes; empty: the best that works",
            ("bwrap", "bare"),
            "sandbox",
            APPROVALS,
        ),
        Key("limits.turns", int, None, "turns of one run", (), "max_turns", LIMITS),
        Key("limits.tool_calls", int, None, "tool calls of one run", (), "max_tool_calls", LIMITS),
        Key("limits.tokens", int, None, "tokens of one run, prompt and answers", (), "max_tokens", LIMITS),
        Key("limits.cost", float, None, "USD of one run", (), "max_cost", LIMITS),
        Key(
            "limits.seconds",
            float,
            None,
            "seconds of work in one run, waiting for people left out",
            (),
            "max_seconds",
            LIMITS,
        ),
        Key("limits.repeats", int, 5, "times the very same call may follow itself", group=LIMITS),
        Key(
            "compaction",
            str,
            "auto",
            "auto: make room as the window fills; off: only when asked",
            ("auto", "off"),
            "",
            WINDOW,
        ),
        Key("theme", str, "", "name of the theme; empty: the first of ours", (), "theme", LOOK, personal=True),
        Key("ui.animations", bool, True, "let things move on screen", group=LOOK, personal=True),
        Key(
            "ui.history",
            bool,
            True,
            "keep what you say, and an unsent draft, for the next start",
            group=LOOK,
            personal=True,
        ),
        Key("ui.title", bool, True, "say in the terminal's title how things stand", group=ATTENTION, personal=True),
        Key(
            "ui.bell",
            bool,
            True,
            "ring when something waits for you and you look elsewhere",
            group=ATTENTION,
            personal=True,
        ),
        Key(
            "ui.notify", bool, True, "ask the terminal for a desktop notification then", group=ATTENTION, personal=True
        ),
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
