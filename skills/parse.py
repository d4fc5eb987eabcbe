"""A SKILL.md read with patience: what people really write loads, with a note; what cannot be read says why."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import yaml  # type: ignore[import-untyped]
from frontmatter.default_handlers import YAMLHandler

from skills.text import decode, unseen, visible, yaml_safe

NAME_LENGTH = 64
DESCRIPTION_LENGTH = 1024
COMPATIBILITY_LENGTH = 500
FRONTMATTER_LENGTH = 64 * 1024
# Enough for any honest file, too few to blow up: merged aliases multiply.
MOST_ALIASES = 20
KNOWN = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
_KEY = re.compile(r"^([A-Za-z0-9_.-]+):(?:[ \t]+(.*))?$")
_NAME = re.compile(r"^[a-z0-9]+(?:-[a-z0-9]+)*$")
_HANDLER = YAMLHandler()
# What PyYAML raises for hostile or odd input besides its own errors: impossible dates, huge numbers, deep nesting.
_YAML_ERRORS = (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class Parsed:
    """``error`` is set when the file is no skill; ``messages`` are what is odd. body: the instructions."""

    name: str = ""
    description: str = ""
    body: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    error: str = ""


def parse(data: bytes, folder: str) -> Parsed:
    """The skill in the bytes of a SKILL.md below a folder called ``folder``. Never raises."""
    text, odd = decode(data)
    messages = [*odd, *unseen(text)]
    if not text.strip():
        return Parsed(messages=tuple(messages), error="the file is empty")
    if text[0].isspace():
        messages.append("there is blank space before the frontmatter")
        text = text.lstrip()
    parts = _split(text)
    if isinstance(parts, str):
        return Parsed(messages=tuple(messages), error=parts)
    front, body = parts
    fields, note, error = _load(front)
    messages += [note] if note else []
    if error:
        return Parsed(body=body, messages=tuple(messages), error=error)
    name, name_notes = _name(fields.get("name"), folder)
    description, description_notes, error = _description(fields.get("description"))
    messages += [*name_notes, *description_notes, *_other_notes(fields, body)]
    return Parsed(name, description, body, fields, tuple(messages), error)


def _split(text: str) -> tuple[str, str] | str:
    """(frontmatter, body), or why there is none."""
    if not _HANDLER.detect(text):
        return "there is no frontmatter: the file must begin with a line ---"
    try:
        front, body = _HANDLER.split(text)
    except ValueError:
        return "the frontmatter is not closed: a second line --- is missing"
    if len(front) > FRONTMATTER_LENGTH:
        return f"the frontmatter is too long ({len(front):,} characters)"
    return front, body.strip()


def _load(front: str) -> tuple[dict[str, Any], str, str]:
    """(fields, what had to be mended, error)."""
    front = yaml_safe(front)
    try:
        value, note = _yaml(front), ""
    except _YAML_ERRORS as error:
        problem = _yaml_problem(error)
        try:
            value, note = _yaml(_quoted(front)), f"its YAML is only readable with quotes added: {problem}"
        except _YAML_ERRORS:
            return {}, "", f"its frontmatter is not readable: {problem}"
    if value is None:
        return {}, "", "its frontmatter is empty"
    if not isinstance(value, dict):
        return {}, "", "its frontmatter is not a list of `key: value` lines"
    return {_scalar(key): item for key, item in value.items()}, note, ""


def _yaml(text: str) -> Any:
    """The value of ``text``. Raises one of _YAML_ERRORS."""
    if "*" in text and sum(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)) > MOST_ALIASES:
        raise ValueError("it has too many YAML aliases")
    return _HANDLER.load(text)


def _scalar(value: Any) -> str:
    """Text, number or date as one line of text; empty for anything else."""
    if isinstance(value, str):
        return visible(value)
    try:
        return str(value) if isinstance(value, int | float | date) else ""
    except ValueError:
        # A number too long for Python to print.
        return ""


def _quoted(front: str) -> str:
    """Every top-level entry that YAML cannot read by itself, with its value in quotes."""
    entries: list[list[str]] = []
    for line in front.split("\n"):
        if entries and (not line.strip() or line[0] in " \t"):
            entries[-1].append(line)
        else:
            entries.append([line])
    return "\n".join(_mended(entry) for entry in entries)


def _mended(entry: list[str]) -> str:
    text = "\n".join(entry)
    try:
        _yaml(text)
    except _YAML_ERRORS:
        found = _KEY.match(entry[0])
        if found and found[2]:
            value = " ".join((found[2].strip(), *(line.strip() for line in entry[1:]))).strip()
            return f"{found[1]}: {json.dumps(value, ensure_ascii=False)}"
    return text


def _yaml_problem(error: Exception) -> str:
    """The parser's own words and the line in the file."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem or 'error'}, line {error.problem_mark.line + 1}"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error).split("\n", 1)[0] or type(error).__name__


def _name(value: Any, folder: str) -> tuple[str, list[str]]:
    """The name to use and what is wrong with the one given. Without a usable one the folder names the skill."""
    given = _scalar(value)
    if not given:
        return slug(folder), ["it has no name; its folder's is used"]
    notes = []
    if not isinstance(value, str):
        notes.append("its name is not text")
    if not _valid_name(given):
        notes.append("its name breaks the rule: at most 64 lower-case letters, digits and single hyphens")
    if unicodedata.normalize("NFKC", given) != unicodedata.normalize("NFKC", folder):
        notes.append(f"its name is not that of its folder ({visible(folder)})")
    return (given if _valid_name(given) else slug(given)), notes


def _valid_name(name: str) -> bool:
    """The rule of the specification, with letters of any script as its reference validator takes them."""
    folded = unicodedata.normalize("NFKC", name)
    plain = "".join("a" if c.isalnum() and c == c.lower() else c for c in folded)
    return len(folded) <= NAME_LENGTH and bool(_NAME.match(plain))


def slug(name: str) -> str:
    """A name that can stand in a path and in a list: lower case, hyphens for everything else."""
    return re.sub(r"[\W_]+", "-", visible(name).lower()).strip("-")[:NAME_LENGTH].strip("-") or "skill"


def _description(value: Any) -> tuple[str, list[str], str]:
    text = _scalar(value)
    if not text:
        missing = value is None or isinstance(value, str)
        error = "it has no description, so nobody can tell when to use it" if missing else "its description is not text"
        return "", [], error
    notes = [] if isinstance(value, str) else ["its description is not text"]
    if len(text) > DESCRIPTION_LENGTH:
        notes.append(f"its description has {len(text):,} characters; more than {DESCRIPTION_LENGTH} are not shown")
    return text[:DESCRIPTION_LENGTH], notes, ""


def _other_notes(fields: dict[str, Any], body: str) -> list[str]:
    notes = []
    compatibility = fields.get("compatibility")
    if compatibility is not None and not (
        isinstance(compatibility, str) and 0 < len(compatibility) <= COMPATIBILITY_LENGTH
    ):
        notes.append("its compatibility is not a text of 1 to 500 characters")
    metadata = fields.get("metadata")
    if metadata is not None and not (
        isinstance(metadata, dict) and all(isinstance(v, str) for pair in metadata.items() for v in pair)
    ):
        notes.append("its metadata is not a flat list of texts")
    tools = fields.get("allowed-tools")
    if tools is not None and not isinstance(tools, str):
        notes.append("its allowed-tools is not a text with spaces between the tools")
    if unknown := sorted(key for key in fields if key not in KNOWN):
        notes.append(f"fields the specification does not know: {', '.join(unknown[:10])}")
    if not body:
        notes.append("it has no instructions below the frontmatter")
    return notes
