"""Programs that run another program: they are judged by what they run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sandbox.classify.call import Call, Judge
from sandbox.classify.findings import Finding, at_least_medium, high, medium
from sandbox.classify.hidden import hidden
from sandbox.classify.options import grammar, parse
from sandbox.classify.words import Word


@dataclass(frozen=True, slots=True)
class Wrapper:
    """options: what it accepts before the inner command. skip: operands before it. floor: why it is never low."""

    options: str
    skip: int = 0
    floor: str = ""


_WRAPPERS = {
    "timeout": Wrapper("-v -k: -s: --verbose --foreground --preserve-status --kill-after= --signal=", skip=1),
    "nice": Wrapper("-n: --adjustment="),
    "ionice": Wrapper("-c: -n: -t --class= --classdata= --ignore"),
    "stdbuf": Wrapper("-i: -o: -e: --input= --output= --error="),
    "exec": Wrapper("-c -l -a:"),
    "builtin": Wrapper(""),
    "time": Wrapper("-p -v"),
    "nohup": Wrapper("", floor="keeps running after the session"),
    "setsid": Wrapper("-c -f -w --ctty --fork --wait", floor="leaves the process group of this session"),
    "flock": Wrapper("-n -s -x -w: -E: -o -u --nonblock --shared --wait=", skip=1, floor="takes a lock file"),
    "chrt": Wrapper("-b -f -i -o -r", skip=1, floor="changes scheduling"),
    "taskset": Wrapper("-c", skip=1),
    "strace": Wrapper("-f -e: -o: -c -tt -T -s: -y", floor="traces a program"),
    "ltrace": Wrapper("-f -e: -o: -c", floor="traces a program"),
    "busybox": Wrapper("", floor="runs a built-in version of the program"),
    "toybox": Wrapper("", floor="runs a built-in version of the program"),
    "unbuffer": Wrapper("-p", floor="runs a program on a terminal of its own"),
    "chronic": Wrapper("-v -e"),
}

_SAFE_ASSIGNMENT = re.compile(
    r"(?:LC_[A-Z]+|LANG|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE"
    r"|GIT_OPTIONAL_LOCKS|GIT_TERMINAL_PROMPT|CI)=[A-Za-z0-9_.@:+-]*"
    r"|(?:GIT_)?PAGER=(?:cat)?|TZ=[A-Za-z0-9_+-]+/[A-Za-z0-9_+-]+"
)


def assignment(word: Word) -> list[Finding]:
    """What setting ``NAME=value`` for a command may change: nothing for a few names, anything for the others."""
    if word.literal and _SAFE_ASSIGNMENT.fullmatch(word.text):
        return []
    name = word.text.partition("=")[0].rstrip("+")
    return [medium(f"sets {name[:40]}, which may change what runs", at=word), *hidden([word])]


def wrapped(call: Call) -> list[Finding]:
    """A wrapper of the table above: its options, then the inner command."""
    wrapper = _WRAPPERS[call.name]
    parsed = parse(call.args, grammar(wrapper.options, permute=False))
    if parsed is None:
        return [medium(f"an option of {call.name} that is not known here"), *_tail(call)]
    inner = parsed.operands[wrapper.skip :]
    if not inner:
        return [medium(f"{call.name} without a command")]
    found = call.run(inner)
    if parsed.has("o") and call.name in ("strace", "ltrace"):
        found = [*found, medium("writes a trace file")]
    return at_least_medium(found, wrapper.floor) if wrapper.floor else found


def _tail(call: Call) -> list[Finding]:
    """The worst of what may be run when the options cannot be told from the inner command."""
    for i, word in enumerate(call.args):
        if not word.text.startswith("-") and (found := call.run(call.args[i:])):
            return found
    return []


def env(call: Call) -> list[Finding]:
    """``env`` alone prints the environment, which the sandbox scrubs."""
    options = "-i -0 -u: -C: --ignore-environment --null --unset= --chdir="
    parsed = parse(call.args, grammar(options, permute=False))
    if parsed is None:
        return [medium("an option of env that is not known here"), *hidden(call.args), *_tail(call)]
    words = list(parsed.operands)
    found: list[Finding] = []
    while words and "=" in words[0].text:
        found += assignment(words.pop(0))
    if parsed.has("C", "chdir"):
        found.append(medium("runs in another folder"))
    return found + call.run(words) if words else found


def command(call: Call) -> list[Finding]:
    """``command -v NAME`` looks a program up; ``command NAME`` runs it."""
    parsed = parse(call.args, grammar("-v -V -p", permute=False))
    if parsed is None:
        return [medium("an option of command that is not known here"), *_tail(call)]
    if parsed.has("v", "V") or not parsed.operands:
        return []
    return call.run(parsed.operands)


_XARGS = (
    "-0 -r -t -x -n: -P: -L: -I: -d: -s: -a: -E: --null --no-run-if-empty --verbose --max-args= --max-procs= "
    "--max-lines= --delimiter= --arg-file= --exit --max-chars= --replace?"
)


def xargs(call: Call) -> list[Finding]:
    """The inner command gets arguments from outside: they may be anything, options included."""
    parsed = parse(call.args, grammar(_XARGS, permute=False))
    if parsed is None:
        return [medium("an option of xargs that is not known here"), *_tail(call)]
    found = call.secrets(parsed.values("a", "arg-file"))
    places = parsed.values("I", "replace")
    mark = places[-1].text if places else ("{}" if parsed.has("replace") else "")
    if not parsed.operands:
        return found
    if mark:
        inner = [fed(word, mark) for word in parsed.operands]
    else:
        end = parsed.operands[-1].end
        inner = [*parsed.operands, Word("", end, end, fed=True)]
    return found + call.run(inner)


def fed(word: Word, mark: str) -> Word:
    """``word`` with ``mark`` standing for text that another program supplies."""
    if not mark or mark not in word.text:
        return word
    text = "" if word.text.startswith(mark) else word.text
    return replace(word, text=text, mask=word.mask[: len(text)], fed=True)


def joined_script(words: Sequence[Word]) -> str | None:
    """The text a shell would read when ``words`` are joined by spaces, or None when it is not known."""
    if all(word.literal for word in words):
        return " ".join(word.text for word in words)
    return None


def watch(call: Call) -> list[Finding]:
    """Runs its words through a shell, again and again."""
    options = "-n: -d -t -g -e -x -c -b -w --interval= --differences --no-title"
    parsed = parse(call.args, grammar(options, permute=False))
    script = joined_script(parsed.operands) if parsed else None
    if script is None:
        return [high("a command that cannot be read before it runs")]
    return at_least_medium(call.script(script), "runs a command again and again")


def script(call: Call) -> list[Finding]:
    """``script`` records a terminal; without ``-c`` it opens a shell."""
    parsed = parse(call.args, grammar("-q -e -f -a -c: --quiet --return --flush --append --command="))
    commands = parsed.values("c", "command") if parsed else []
    if not commands or not all(word.literal for word in commands):
        return [high("opens a shell")]
    return at_least_medium(call.script(commands[-1].text), "records a terminal session to a file")


def parallel(call: Call) -> list[Finding]:
    """GNU parallel joins words into shell text; without a command it runs its input as commands."""
    words = []
    for word in call.args:
        if word.text.startswith(":::"):
            break
        words.append(word)
    while words and words[0].text.startswith("-"):
        words.pop(0)
    found = call.run(words) if words else [high("runs its input as shell commands")]
    return at_least_medium(found, "runs many commands at once")


WRAPPERS: dict[str, Judge] = {
    **dict.fromkeys(_WRAPPERS, wrapped),
    "env": env,
    "command": command,
    "xargs": xargs,
    "watch": watch,
    "script": script,
    "parallel": parallel,
}
