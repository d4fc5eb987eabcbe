"""Strict local servers for the three wire formats, and checks on what they were sent."""

from tests.fakes.prefix import assert_append_only
from tests.fakes.server import StrictServer
from tests.fakes.turns import Call, Turn, read_script
from tests.fakes.validate_anthropic import validate_anthropic
from tests.fakes.validate_chat import validate_chat
from tests.fakes.validate_responses import validate_responses

__all__ = [
    "Call",
    "StrictServer",
    "Turn",
    "assert_append_only",
    "read_script",
    "validate_anthropic",
    "validate_chat",
    "validate_responses",
]
