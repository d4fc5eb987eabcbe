"""The file a scripted model plays: TOML, turns from top to bottom. docs/script-model.md shows it by example.

title = "what it is for"
summary = "Answer to a request for a summary; made from the request when absent."
chunk = 24                      # characters a streamed piece
context_window = 200_000        # tokens of the window it claims to have
delay = 0.2                     # seconds before an answer begins; a turn may have its own
pace = 0.02                     # seconds between pieces; a turn may have its own

[[next]]                        # looked at before every turn: somebody said a word
when = { says = "stop" }
goto = "goodbye"
times = 1                       # only while that turn was played fewer than so many times

[[turn]]
label = "test"
thinking = "..."
text = "..."
[[turn.call]]                   # several are parallel calls
tool = "shell_run"
input = { command = "make test" }
[[turn.next]]                   # looked at when the results are in; the first that fits wins, else the turn below
when = { tool = "shell_run", status = "error", contains = "1 failed" }
goto = "mend"
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from engine.models.base import ModelError

ErrorKind = Literal["auth", "rate_limit", "overloaded", "network", "server", "bad_request", "context_overflow"]
RETRYABLE = frozenset({"rate_limit", "overloaded", "network", "server"})

RESULT = re.compile(r"\{\{result:(.+?)\}\}")
"""``{{result:PATTERN}}`` in a text or an input: the first group of PATTERN found in the newest results."""


def _paragraphs(text: str) -> str:
    return textwrap.dedent(text).strip()


def _patterns(text: str) -> str:
    """``text``, if every pattern in it can be searched for and has a group to take."""
    for pattern in RESULT.findall(text):
        try:
            groups = re.compile(pattern).groups
        except re.error as error:
            raise ValueError(f"the pattern {pattern!r} is no regular expression: {error}") from error
        if groups < 1:
            raise ValueError(f"the pattern {pattern!r} has no group in parentheses to take")
    return text


def _patterns_within(value: Any) -> Any:
    if isinstance(value, str):
        _patterns(value)
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _patterns_within(item)
    return value


Prose = Annotated[str, AfterValidator(_paragraphs), AfterValidator(_patterns)]
Arguments = Annotated[dict[str, Any], AfterValidator(_patterns_within)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class When(_Strict):
    """What must have come back: one result that fits ``tool``, ``status`` and ``contains``, and a message of the
    person in which ``says`` occurs. Upper and lower case are the same; what is left empty fits everything."""

    tool: str = ""
    status: Literal["ok", "error"] | None = None
    contains: str = ""
    says: str = ""


class Next(_Strict):
    """Where to go on. ``times``: the rule holds only while its target was played fewer than so many times."""

    goto: str
    when: When = When()
    times: int | None = Field(default=None, ge=1)


class ScriptedCall(_Strict):
    """A tool call. ``raw`` is sent instead of ``input`` as arguments that are no JSON at all."""

    tool: str = Field(min_length=1)
    input: Arguments = Field(default_factory=dict)
    raw: str = ""


class Failure(_Strict):
    """The request fails the first ``times`` times, after ``after`` characters of the answer."""

    kind: ErrorKind
    message: str = "The script says so."
    retry_after: float | None = Field(default=None, ge=0)
    times: int = Field(default=1, ge=1)
    after: int = Field(default=0, ge=0)


class Turn(_Strict):
    """One answer: thinking, text and calls, in this order. ``stop`` defaults to what the content means."""

    label: str = ""
    thinking: Prose = ""
    text: Prose = ""
    call: tuple[ScriptedCall, ...] = ()
    next: tuple[Next, ...] = ()
    delay: float | None = Field(default=None, ge=0)
    pace: float | None = Field(default=None, ge=0)
    error: Failure | None = None
    stop: Literal["end", "tool_calls", "length", "refusal"] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Turn:
        if not self.text and not self.call:
            raise ValueError("a turn needs a text or a call")
        return self


class Script(_Strict):
    """A whole file."""

    title: str = ""
    summary: Prose = ""
    context_window: int = Field(default=200_000, ge=1)
    chunk: int = Field(default=24, ge=1)
    delay: float = Field(default=0.0, ge=0)
    pace: float = Field(default=0.0, ge=0)
    next: tuple[Next, ...] = ()
    turn: tuple[Turn, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _labels_fit(self) -> Script:
        labels = [turn.label for turn in self.turn if turn.label]
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            raise ValueError(f"these labels name more than one turn: {', '.join(sorted(twice))}")
        rules = [*self.next, *(rule for turn in self.turn for rule in turn.next)]
        missing = {rule.goto for rule in rules} - set(labels) - {"end"}
        if missing:
            raise ValueError(f"no turn has the label {', '.join(sorted(missing))}")
        return self

    @property
    def end(self) -> int:
        """The index behind the last turn: where ``goto = "end"`` leads."""
        return len(self.turn)

    def index(self, label: str) -> int:
        """The turn called ``label``, or the end."""
        return next((i for i, turn in enumerate(self.turn) if turn.label == label), self.end)


def load(path: Path) -> Script:
    """Read a script. Raises ModelError (kind ``script``) that names the file, the place and what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise _refuse(path, f"it cannot be read: {reason}") from error
    try:
        return parse(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _refuse(path, f"it is not TOML: {error}") from error
    except ValidationError as error:
        raise _refuse(path, "; ".join(_problem(p) for p in error.errors())) from error


def parse(data: Mapping[str, Any]) -> Script:
    """A script from plain data, as TOML would give it. Raises pydantic.ValidationError."""
    return Script.model_validate(data)


def _refuse(path: Path, reason: str) -> ModelError:
    return ModelError(
        "script",
        f"The script {path} cannot be played: {reason}.",
        suggestion="Name a TOML file of turns (script/PATH), or use script/demo.",
    )


def _problem(problem: Any) -> str:
    """``turn 3, call 1, tool: Field required``: counted from 1, as a person counts."""
    place: list[str] = []
    for step in problem["loc"]:
        if isinstance(step, int) and place:
            place[-1] += f" {step + 1}"
        else:
            place.append(str(step))
    return f"{', '.join(place) or 'the file'}: {problem['msg']}"
