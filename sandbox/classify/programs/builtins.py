"""What bash does itself: tests, lookups, settings of the shell, and text that it reads again as commands."""

from __future__ import annotations

import re

from sandbox.classify.call import Call, Judge
from sandbox.classify.findings import Finding, at_least_medium, high, medium
from sandbox.classify.wrappers import joined_script

_QUIET = "jobs dirs times help hash umask caller".split()


def test(call: Call) -> list[Finding]:
    """``[ … ]`` and ``test``. ``-v`` evaluates a subscript, and so may run a substitution inside quotes."""
    if any("$(" in text or "`" in text for text in call.texts):
        return [medium("a test that may run a substitution")]
    words = call.texts[:-1] if call.name == "[" else call.texts
    if "-v" in words and any("[" in text for text in words):
        return [medium("a test that evaluates a subscript")]
    return []


def lookup(call: Call) -> list[Finding]:
    """``type NAME`` says what a name is."""
    return []


def quiet(call: Call) -> list[Finding]:
    """Harmless without arguments."""
    return [medium(f"changes a setting of the shell with {call.name}")] if call.args else []


def ends(call: Call) -> list[Finding]:
    """``exit`` and ``return`` with a plain number."""
    fine = len(call.args) <= 1 and all(re.fullmatch(r"[0-9]{1,3}", text) for text in call.texts)
    return [] if fine else [medium("ends the shell with a computed value")]


def set_options(call: Call) -> list[Finding]:
    """``set -euo pipefail``: how errors are treated. Other settings change how the rest of the line is read."""
    words = iter(call.texts)
    for text in words:
        if not re.fullmatch(r"[-+][eux]*o?", text) or len(text) < 2:
            return [medium("changes how the shell reads the rest")]
        if text.endswith("o") and next(words, "") not in ("pipefail", "errexit", "nounset", "xtrace"):
            return [medium("changes how the shell reads the rest")]
    return [] if call.args else [medium("prints or changes the state of the shell")]


def cd(call: Call) -> list[Finding]:
    """Goes to another folder; what follows is judged there."""
    operands = [word for word in call.args if word.text not in ("-L", "-P", "--")]
    if len(operands) > 1 or any(word.unknown or word.glob for word in operands):
        return [medium("goes to a folder that is known only when it runs")]
    return call.secrets(operands)


def evaluate(call: Call) -> list[Finding]:
    """``eval`` reads its words again as a line."""
    script = joined_script(call.args)
    if script is None:
        return [high("builds a command while it runs, so it cannot be read before")]
    return at_least_medium(call.script(script), "reads its words again as a command")


def trap(call: Call) -> list[Finding]:
    """The first word is run later, as a line."""
    if not call.args or not call.args[0].literal:
        return [high("sets a command to run later that cannot be read before")] if call.args else []
    return at_least_medium(call.script(call.args[0].text), "sets a command to run later")


def source(call: Call) -> list[Finding]:
    """Runs a file inside this shell."""
    if not call.args:
        return [medium("runs a file in this shell")]
    found = [medium("runs a script", f"runs {call.args[0].text[:60]}")]
    if call.args[0].unknown or call.args[0].text.startswith(("/dev/", "/proc/")):
        found.append(high("runs commands that cannot be read before", at=call.args[0]))
    return found


def alias(call: Call) -> list[Finding]:
    return [medium("gives a command another meaning")] if call.args else []


def state(call: Call) -> list[Finding]:
    """Variables and limits: they change what later commands mean."""
    return [medium(f"changes variables or settings of the shell with {call.name}")]


def enable(call: Call) -> list[Finding]:
    """``enable -f FILE`` loads a shared object into the shell."""
    return [high("loads code into the shell")] if any(t.startswith("-") for t in call.texts) else state(call)


JUDGES: dict[str, Judge] = {
    **dict.fromkeys(("test", "["), test),
    **dict.fromkeys(_QUIET, quiet),
    **dict.fromkeys(("type",), lookup),
    **dict.fromkeys(("exit", "return"), ends),
    **dict.fromkeys(
        "export declare typeset local readonly unset let read mapfile readarray getopts shift wait shopt ulimit "
        "pushd popd bg fg disown bind complete compgen compopt history fc logout suspend break continue".split(),
        state,
    ),
    ":": lookup,
    "set": set_options,
    "cd": cd,
    "eval": evaluate,
    "trap": trap,
    ".": source,
    "source": source,
    "alias": alias,
    "unalias": state,
    "enable": enable,
}
