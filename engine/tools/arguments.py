"""The arguments of a call against what its tool takes: small slips are forgiven, the rest is explained to the model."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from engine.tools.base import Tool
from engine.tools.words import one_line

MOST_PROBLEMS = 8


def given(model: type[BaseModel], arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments without optional ones that are null: some models send every argument there is."""
    return {
        name: value
        for name, value in arguments.items()
        if value is not None or name not in model.model_fields or model.model_fields[name].is_required()
    }


def explain(tool: Tool[Any], error: ValidationError) -> tuple[str, str]:
    """(what is wrong, field by field; what the tool takes), both for the model."""
    problems = error.errors(include_url=False, include_context=False)
    lines = [f"- {_problem(problem)}" for problem in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        lines.append(f"- and {len(problems) - MOST_PROBLEMS} more")
    fields = tool.input.model_fields.items()
    takes = ", ".join(name if field.is_required() else f"{name} (optional)" for name, field in fields)
    return (
        "\n".join((f"The arguments of {tool.name} are not valid, so nothing was run:", *lines)),
        f"Mend these and make the call again. {tool.name} takes: {takes}.",
    )


def _problem(problem: ErrorDetails) -> str:
    where = ".".join(str(part) for part in problem["loc"])
    kind = problem["type"]
    if kind == "missing":
        return f"{where}: is missing"
    if kind == "extra_forbidden":
        return f"{where}: there is no such argument"
    message = problem["msg"].removeprefix("Value error, ")
    if not where:
        return message
    return f"{where}: {message[:1].lower()}{message[1:]}, but it is {one_line(repr(problem['input']), 80)}"
