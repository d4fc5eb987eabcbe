"""What the three validators share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}


class Rejected(Exception):
    """The provider's own words for what is wrong with a request."""


def reject(message: str) -> NoReturn:
    raise Rejected(message)


def verdict(check: Callable[[dict[str, Any]], None], body: Any) -> str | None:
    """Run a validator: None when the request is fine, else why not."""
    try:
        if not isinstance(body, dict):
            reject("The request body is not valid JSON.")
        check_text(body)
        check(body)
    except Rejected as rejected:
        return str(rejected)
    return None


def check_text(value: Any) -> None:
    """Every string can be sent: no lone surrogates, no NUL."""
    if isinstance(value, str):
        if "\0" in value:
            reject("The request body is not valid JSON: NUL in a string.")
        if re.search("[\ud800-\udfff]", value):
            reject("The request body is not valid JSON: no low surrogate in string.")
    elif isinstance(value, dict):
        for key, item in value.items():
            check_text(key)
            check_text(item)
    elif isinstance(value, list):
        for item in value:
            check_text(item)


def schema_problem(schema: Any) -> str | None:
    """What is wrong with a tool's JSON Schema, None if nothing."""
    if not isinstance(schema, dict):
        return "schema must be an object"
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'"
    if any(word in schema for word in ("oneOf", "allOf", "anyOf")):
        return "schema does not support oneOf, allOf, or anyOf at the top level"
    return _schema_part(schema, schema)


def _schema_part(part: Any, root: dict[str, Any]) -> str | None:
    if isinstance(part, bool):
        return None
    if not isinstance(part, dict):
        return f"{part!r} is not of type 'object', 'boolean'"
    kinds = part.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if kind not in _TYPES:
            return f"{kind!r} is not valid under any of the given schemas"
    required = part.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return f"{required!r} is not of type 'array' of strings"
    if "array" in ([kinds] if isinstance(kinds, str) else kinds) and "items" not in part and "prefixItems" not in part:
        return "array schema missing items"
    if "$ref" in part and _resolve(part["$ref"], root) is None:
        return f"reference {part['$ref']!r} can not be resolved"
    inner = [*part.get("properties", {}).values(), *part.get("$defs", {}).values()]
    inner += [part[word] for word in ("items", "additionalProperties", "not") if word in part]
    inner += [item for word in ("anyOf", "oneOf", "allOf", "prefixItems") for item in part.get(word, ())]
    return next((problem for item in inner if (problem := _schema_part(item, root))), None)


def _resolve(ref: Any, root: dict[str, Any]) -> Any:
    if not isinstance(ref, str) or not ref.startswith("#"):
        return None
    found: Any = root
    for step in ref.lstrip("#/").split("/"):
        if step and (not isinstance(found, dict) or step not in found):
            return None
        found = found[step] if step else found
    return found
