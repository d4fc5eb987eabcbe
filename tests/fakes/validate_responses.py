"""What the Responses API refuses, in its words. Stricter in two points: nothing is empty, arguments are JSON."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.fakes.checks import CALL_ID, reject, schema_problem, verdict
from tests.fakes.seals import is_genuine

_PARAMS = {
    "model", "input", "instructions", "tools", "tool_choice", "stream", "stream_options", "store", "include",
    "max_output_tokens", "max_tool_calls", "metadata", "parallel_tool_calls", "previous_response_id", "prompt",
    "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier",
    "service_tier", "temperature", "text", "top_logprobs", "top_p", "truncation", "user", "background",
    "context_management", "conversation",
}  # fmt: skip
_INCLUDABLE = {
    "reasoning.encrypted_content", "message.output_text.logprobs", "file_search_call.results",
    "web_search_call.action.sources", "message.input_image.image_url", "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
}  # fmt: skip
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ITEM_FIELDS = {
    "message": {"type", "role", "content", "id", "status", "phase"},
    "function_call": {"type", "call_id", "name", "arguments", "id", "status"},
    "function_call_output": {"type", "call_id", "output", "id", "status"},
    "reasoning": {"type", "id", "summary", "encrypted_content", "content"},
}
_TOOL_FIELDS = {"type", "name", "description", "parameters", "strict"}


def validate_responses(body: Any) -> str | None:
    """Why the API would answer 400, None if it would not."""
    return verdict(_check, body)


def _check(body: dict[str, Any]) -> None:
    for name in body:
        if name not in _PARAMS:
            reject(f"Unknown parameter: '{name}'.")
    for name in ("model", "input"):
        if not body.get(name):
            reject(f"Missing required parameter: '{name}'.")
    if body.get("max_output_tokens", 16) < 16:
        reject("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.")
    if len(body.get("prompt_cache_key", "")) > 64:
        reject("Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.")
    for name in body.get("include", ()):
        if name not in _INCLUDABLE:
            reject(f"Invalid value: '{name}'. Supported values are: {sorted(_INCLUDABLE)}")
    _check_tools(body)
    if isinstance(body["input"], str):
        return
    for at, item in enumerate(body["input"]):
        _check_item(f"input[{at}]", item)
    _check_pairs(body["input"])
    _check_reasoning(body["input"], stored=body.get("store", True))


def _check_tools(body: dict[str, Any]) -> None:
    names = []
    for at, tool in enumerate(body.get("tools", ())):
        if tool.get("type") != "function":
            reject(f"Invalid value: '{tool.get('type')}'. Supported values are: 'function'.")
        for field in tool:
            if field not in _TOOL_FIELDS:
                reject(f"Unknown parameter: 'tools[{at}].{field}'.")
        _check_name(f"tools[{at}].name", tool.get("name"))
        if problem := schema_problem(tool.get("parameters")):
            reject(f"Invalid schema for function '{tool['name']}': {problem}.")
        schema = tool["parameters"]
        if tool.get("strict") and (
            schema.get("additionalProperties") is not False
            or set(schema.get("required", ())) != set(schema.get("properties", {}))
        ):
            reject(f"Invalid schema for function '{tool['name']}': strict needs all properties required and no others.")
        names.append(tool["name"])
    choice = body.get("tool_choice", "auto")
    if isinstance(choice, str):
        if choice not in ("auto", "none", "required"):
            reject(f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'.")
        return
    named = choice.get("tools", [choice])
    if choice.get("type") == "allowed_tools" and (choice.get("mode") not in ("auto", "required") or not named):
        reject("Invalid 'tool_choice.tools': empty array. Expected an array with minimum length 1.")
    for tool in named:
        if tool.get("name") not in names:
            reject(f"Tool choice '{tool.get('name')}' not found in 'tools' parameter.")


def _check_name(where: str, name: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        reject(f"Invalid '{where}': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$', at most 64 characters.")


def _check_item(where: str, item: Any) -> None:
    kind = item.get("type", "message")
    if kind not in _ITEM_FIELDS:
        reject(f"Invalid value: '{kind}'. Supported values are: {sorted(_ITEM_FIELDS)}")
    for field in item:
        if field not in _ITEM_FIELDS[kind]:
            reject(f"Unknown parameter: '{where}.{field}'.")
    match kind:
        case "message":
            _check_message(where, item)
        case "function_call":
            _check_call_id(where, item)
            _check_name(f"{where}.name", item.get("name"))
            try:
                arguments = json.loads(item.get("arguments"))
            except (TypeError, ValueError):
                arguments = None
            if not isinstance(arguments, dict):
                reject(f"Invalid '{where}.arguments': expected a JSON object in a string.")
        case "function_call_output":
            _check_call_id(where, item)
            if not isinstance(item.get("output"), str) or not item["output"]:
                reject(f"Missing required parameter: '{where}.output'.")
        case "reasoning":
            if not isinstance(item.get("summary"), list):
                reject(f"Missing required parameter: '{where}.summary'.")


def _check_call_id(where: str, item: dict[str, Any]) -> None:
    value = item.get("call_id")
    if not isinstance(value, str) or not CALL_ID.fullmatch(value):
        reject(f"Invalid '{where}.call_id': empty string or bad characters.")
    if len(value) > 64:
        reject(f"Invalid '{where}.call_id': string too long. Expected a string with maximum length 64.")


def _check_message(where: str, item: dict[str, Any]) -> None:
    role, content = item.get("role"), item.get("content")
    if role not in ("user", "assistant", "system", "developer"):
        reject(f"Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.")
    if not content:
        reject(f"Invalid '{where}.content': empty.")
    if isinstance(content, str):
        return
    wanted = {"output_text", "refusal"} if role == "assistant" else {"input_text", "input_image", "input_file"}
    for at, part in enumerate(content):
        if part.get("type") not in wanted:
            reject(f"Invalid value: '{part.get('type')}'. Supported values are: {sorted(wanted)}.")
        if not str(part.get("text") or "").strip():
            reject(f"Invalid '{where}.content[{at}].text': empty string.")


def _check_pairs(items: list[Any]) -> None:
    called: list[str] = []
    answered: list[str] = []
    for item in items:
        if item.get("type") == "function_call":
            if item["call_id"] in called:
                reject(f"Duplicate function call with call_id {item['call_id']}.")
            called.append(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item["call_id"] not in called:
                reject(f"No tool call found for function call output with call_id {item['call_id']}.")
            if item["call_id"] in answered:
                reject(f"Duplicate function call output with call_id {item['call_id']}.")
            answered.append(item["call_id"])
    if missing := [call_id for call_id in called if call_id not in answered]:
        reject(f"No tool output found for function call {missing[0]}.")


def _check_reasoning(items: list[Any], *, stored: bool) -> None:
    for at, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        name = item.get("id", f"input[{at}]")
        if not item.get("encrypted_content") and not stored:
            reject(f"Item with id '{name}' not found. Items are not persisted when `store` is set to false.")
        if item.get("encrypted_content") and not is_genuine(item["encrypted_content"]):
            reject(f"The encrypted content for item {name} could not be verified.")
        after: dict[str, Any] = next((later for later in items[at + 1 :] if later.get("type") != "reasoning"), {})
        if after.get("type") != "function_call" and after.get("role") != "assistant":
            reject(f"Item '{name}' of type 'reasoning' was provided without its required following item.")
