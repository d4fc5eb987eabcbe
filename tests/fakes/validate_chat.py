"""What Chat Completions refuses, in its words, and what chat templates of local servers refuse besides: a second system
message, users in a row, empty content, arguments that are no JSON."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

from tests.fakes.checks import CALL_ID, reject, schema_problem, verdict

_PARAMS = {
    "model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens", "max_completion_tokens",
    "temperature", "top_p", "n", "stop", "seed", "store", "metadata", "user", "prompt_cache_key", "reasoning_effort",
    "parallel_tool_calls", "response_format", "frequency_penalty", "presence_penalty", "service_tier", "logprobs",
    "safety_identifier", "prompt_cache_retention", "verbosity",
}  # fmt: skip
_FIELDS = {
    "system": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "tool_calls", "refusal", "name", "reasoning_content"},
    "tool": {"role", "content", "tool_call_id"},
}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def validate_chat(body: Any) -> str | None:
    """Why the API would answer 400, None if it would not."""
    return verdict(_check, body)


def _check(body: dict[str, Any]) -> None:
    for name in body:
        if name not in _PARAMS:
            reject(f"Unrecognized request argument supplied: {name}")
    for name in ("model", "messages"):
        if not body.get(name):
            reject(f"Missing required parameter: '{name}'.")
    if "max_tokens" in body and "max_completion_tokens" in body:
        reject("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
    if "stream_options" in body and not body.get("stream"):
        reject("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    if len(body.get("prompt_cache_key", "")) > 64:
        reject("Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64.")
    _check_tools(body)
    for at, message in enumerate(body["messages"]):
        _check_message(f"messages[{at}]", message)
    _check_order(body["messages"])
    _check_pairs(body["messages"])


def _check_tools(body: dict[str, Any]) -> None:
    names = []
    if body.get("tools") == []:
        reject("Invalid 'tools': empty array. Expected an array with minimum length 1.")
    for at, tool in enumerate(body.get("tools", ())):
        function = tool.get("function", {})
        if tool.get("type") != "function" or set(function) - {"name", "description", "parameters", "strict"}:
            reject(f"Invalid 'tools[{at}]': not a function.")
        _check_name(f"tools[{at}].function.name", function.get("name"))
        if problem := schema_problem(function.get("parameters")):
            reject(f"Invalid schema for function '{function['name']}': {problem}.")
        names.append(function["name"])
    choice = body.get("tool_choice", "auto")
    if "tool_choice" in body and not names:
        reject("'tool_choice' is only allowed when 'tools' are specified.")
    if isinstance(choice, str):
        if choice not in ("auto", "none", "required"):
            reject(f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'.")
        return
    named = choice["allowed_tools"]["tools"] if choice.get("type") == "allowed_tools" else [choice]
    if not named:
        reject("Invalid 'tool_choice.allowed_tools.tools': empty array. Expected an array with minimum length 1.")
    for tool in named:
        if tool.get("function", {}).get("name") not in names:
            reject("Tool choice not found in 'tools' parameter.")


def _check_name(where: str, name: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        reject(f"Invalid '{where}': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$', at most 64 characters.")


def _check_message(where: str, message: Any) -> None:
    role, content = message.get("role"), message.get("content")
    if role not in _FIELDS:
        reject(f"Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user' and 'tool'.")
    for field in message:
        if field not in _FIELDS[role]:
            reject(f"Unrecognized request argument supplied: {where}.{field}")
    if role == "assistant" and message.get("tool_calls") == []:
        reject(f"Invalid '{where}.tool_calls': empty array. Expected an array with minimum length 1.")
    if content is None and not (role == "assistant" and message.get("tool_calls")):
        reject(f"Invalid value for 'content': expected a string, got null. ({where})")
    if content is not None and (not isinstance(content, str) or not content.strip()):
        reject(f"Invalid '{where}.content': empty or not a string.")
    for at, call in enumerate(message.get("tool_calls") or ()):
        _check_call(f"{where}.tool_calls[{at}]", call)


def _check_call(where: str, call: Any) -> None:
    if set(call) != {"id", "type", "function"} or call["type"] != "function":
        reject(f"Missing required parameter: '{where}.type'.")
    if not isinstance(call["id"], str) or not CALL_ID.fullmatch(call["id"]):
        reject(f"Invalid '{where}.id': empty string or bad characters.")
    if len(call["id"]) > 40:
        reject(f"Invalid '{where}.id': string too long. Expected a string with maximum length 40.")
    _check_name(f"{where}.function.name", call["function"].get("name"))
    try:
        arguments = json.loads(call["function"].get("arguments"))
    except (TypeError, ValueError):
        arguments = None
    if not isinstance(arguments, dict):
        reject(f"Invalid '{where}.function.arguments': expected a JSON object in a string.")


def _check_order(messages: list[Any]) -> None:
    roles = [message["role"] for message in messages]
    if "system" in roles[1:]:
        reject("System message must be at the beginning.")
    turns = [role for role in roles if role not in ("system", "tool")]
    for before, after in pairwise(roles):
        if before == after and before != "tool":
            reject("After the optional system message, conversation roles must alternate user/assistant/user/...")
    if not turns or turns[0] != "user":
        reject("The first message must be from the user.")
    if roles[-1] == "assistant":
        reject("The last message must not be from the assistant.")


def _check_pairs(messages: list[Any]) -> None:
    wanted: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in wanted:
                reject("messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
            wanted.remove(message["tool_call_id"])
            continue
        _check_none_left(wanted)
        wanted = [call["id"] for call in message.get("tool_calls") or ()]
        if len(set(wanted)) != len(wanted):
            reject("Duplicate tool call ids.")
    _check_none_left(wanted)


def _check_none_left(wanted: list[str]) -> None:
    if wanted:
        reject(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(wanted)}"
        )
