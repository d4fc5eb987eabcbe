"""What to do when a program ran into a wall: said only where its own words make plain that it did."""

from __future__ import annotations

from dataclasses import replace

from sandbox.operations import Outcome, Status
from sandbox.policy import Policy

_TAIL = 16 * 1024
# What engines with a compiler inside say, or show in their stack, when they are refused writable and executable memory.
_JIT = (b"v8::base::OS::SetPermissions", b"Failed to mark memory page as executable")
_PCRE = b"Couldn't JIT the PCRE2 pattern"
_CANNOT_EXECUTE, _NOT_STARTED = 126, 127


def advise(done: Outcome, policy: Policy) -> Outcome:
    """``done`` with a suggestion, when there is none yet or a better one is known. Only the output's ends are read."""
    if done.status not in (Status.OK, Status.FAILED):
        return done
    said = done.data[:_TAIL] + done.data[-_TAIL:] + done.error.encode()
    if any(words in said for words in _JIT):
        return _hint(done, _about_jit(policy))
    if done.status is Status.OK:
        return done
    if _PCRE in said:
        return _hint(done, "put (*NO_JIT) in front of the pattern: there is no memory for compiled patterns here")
    if not policy.execute and _was_not_run(done, said):
        return _hint(
            done,
            f"the policy {policy.name} runs nothing that lies in the workspace, /tmp or the home folder; hand scripts "
            "to their interpreter (python3 script.py), or ask the person for another policy",
        )
    return done


def _about_jit(policy: Policy) -> str:
    if not policy.wx:
        return (
            f"it needs memory that is writable and executable, which the policy {policy.name} gives to nothing; ask "
            "the person for another policy"
        )
    return (
        "it needs memory that is writable and executable: start it by its own name in the command line; where another "
        f"program starts it, ask the person to add that one to wx in a policy file (now {policy.name})"
    )


def _was_not_run(done: Outcome, said: bytes) -> bool:
    """Refused by the shell or the loader; a library that could not be mapped ends programs in ways of their own."""
    refused = done.exit_code in (_CANNOT_EXECUTE, _NOT_STARTED) and b"Permission denied" in said
    return refused or b"failed to map segment from shared object" in said


def _hint(done: Outcome, suggestion: str) -> Outcome:
    return replace(done, suggestion=suggestion)
