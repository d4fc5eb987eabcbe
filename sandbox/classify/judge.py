"""Judges one simple command: its assignments, its redirections, and the program it really runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sandbox.classify.call import Call, private
from sandbox.classify.findings import Finding, high, listed, medium, moved, placed
from sandbox.classify.hidden import hidden
from sandbox.classify.line import Command, Redirect
from sandbox.classify.place import Place
from sandbox.classify.programs import table
from sandbox.classify.programs.files import written
from sandbox.classify.programs.shells import interpreter, is_interpreter
from sandbox.classify.words import Word
from sandbox.classify.wrappers import assignment

# Wrappers inside wrappers, scripts inside scripts: nobody needs more.
DEEPEST = 8

Script = Callable[[str, Place, int], list[Finding]]

_SYSTEM_FOLDERS = ("/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/")
_NAME = re.compile(r"[A-Za-z0-9_.+:\[-]+")


def judge(command: Command, place: Place, script: Script, depth: int = 0) -> list[Finding]:
    """Every finding for one command; none when it only reads. ``script`` judges text that a shell would read."""
    found: list[Finding] = []
    for word in command.assigns:
        found += assignment(word) if command.words else [medium("sets a variable of the shell", at=word)]
    for redirect in command.redirects:
        found += placed(redirection(redirect, place), (redirect.start, redirect.end))
    if command.words:
        end = command.words[-1].end
        found += placed(program(command, command.words, place, script, depth), (command.words[0].start, end))
    return found


def redirection(redirect: Redirect, place: Place) -> list[Finding]:
    """Where output goes and input comes from. Nothing is found for ``/dev/null`` and for copies of descriptors."""
    target = redirect.target
    if redirect.op == "<<<":
        return []
    if redirect.op in (">&", "<&") and re.fullmatch(r"[0-9]+|-|[0-9]+-", target.text) and target.literal:
        return []
    if target.text.startswith(("/dev/tcp/", "/dev/udp/")):
        return [high("opens a network connection", f"connects to {target.text[9:69]}", contained=False)]
    if redirect.op in ("<", "<&"):
        if target.unknown or target.glob:
            return [medium("reads a file that is chosen only when it runs")]
        return [private(target)] if place.secret(target) else []
    if target.literal and target.text in ("/dev/null", "/dev/stdout", "/dev/stderr"):
        return []
    if target.unknown or target.glob:
        return [high("writes to a file that is known only when it runs", contained=False)]
    effect = "appends to" if ">>" in redirect.op else "writes"
    return written(place, [target], effect) + ([private(target)] if place.secret(target) else [])


def program(command: Command, words: Sequence[Word], place: Place, script: Script, depth: int) -> list[Finding]:
    """What running ``words`` does."""
    head = words[0]
    if depth > DEEPEST:
        return [high("too many commands inside each other to read")]
    if head.unknown or head.glob or head.fed:
        return _dynamic(head)
    name, trusted = _named(head.text)
    if not _NAME.fullmatch(name):
        return _odd_name(head)

    def run(inner: Sequence[Word]) -> list[Finding]:
        return program(command, inner, place, script, depth + 1)

    def text(source: str) -> list[Finding]:
        return moved(script(source, place, depth + 1), (words[0].start, words[-1].end))

    call = Call(name, head, tuple(words[1:]), place, command.upstream, command.downstream, command.fed_by, run, text)
    if not trusted:
        return _own_program(call)
    judge_of = table().get(name)
    if judge_of is not None:
        return judge_of(call)
    if is_interpreter(name):
        return interpreter(call)
    if name.startswith(("mkfs.", "fsck.", "mount.")):
        return [high("changes disks or file systems", f"runs {name[:40]}", contained=False)]
    return _unknown(call)


def _named(text: str) -> tuple[str, bool]:
    """Base name, and whether it is looked up by the system rather than by a path of the caller's choice."""
    if "/" not in text:
        return text, True
    folder, _, name = text.rpartition("/")
    return name, f"{folder}/" in _SYSTEM_FOLDERS


def _dynamic(head: Word) -> list[Finding]:
    return [high("the program it runs is known only when it runs", at=head)]


def _odd_name(head: Word) -> list[Finding]:
    if head.text.isascii():
        return [medium("runs something whose name is no usual program name", f"runs {head.text[:60]}", at=head)]
    return [high("the name of the program only looks like a usual one", f"runs {head.text[:60]}", at=head)]


def _own_program(call: Call) -> list[Finding]:
    """A program given by its path: the project's own, or one elsewhere. Shells stay shells wherever they are."""
    found = [medium("runs a program by its path", f"runs {call.head.text[:60]}")]
    if table().get(call.name) is not None:
        found += [item for item in table()[call.name](call) if item.risk > found[0].risk]
    elif is_interpreter(call.name):
        found += interpreter(call)
    return found


def _unknown(call: Call) -> list[Finding]:
    """A program this house does not know: medium, or the worst of what its arguments would do as a command."""
    outside = [word for word in call.args if word.text[:1] in ("/", "~", ".") and call.place.outside(word)]
    found = [medium("what this program does is not known here", f"runs {call.name[:40]}", contained=not outside)]
    if outside:
        found.append(medium("may reach outside the workspace", f"uses {listed(outside)}", contained=False))
    found += call.secrets(call.args) + hidden(call.args)
    for i, word in enumerate(call.args[:40]):
        if word.literal and word.text in table() and word.text not in ("test", "[", ".", "time"):
            worst = call.run(call.args[i:])
            found += [item for item in worst if item.risk > found[0].risk]
            break
    return found
