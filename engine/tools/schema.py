"""JSON Schema of a tool input as models read it best: no titles, no references, no null defaults, stable bytes."""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue


class _Untitled(GenerateJsonSchema):
    """A field's title only repeats its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """Class names and docstrings are for people who read the code."""
        made = super().model_schema(schema)
        return {key: value for key, value in made.items() if key not in ("title", "description")}


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of ``model`` with every reference inlined; the model must not refer to itself."""
    schema = model.model_json_schema(schema_generator=_Untitled)
    definitions = schema.pop("$defs", {})
    return cast("dict[str, Any]", _inlined(schema, definitions))


def _inlined(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[-1]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return {
        key: _inlined(value, definitions) for key, value in node.items() if not (key == "default" and value is None)
    }
