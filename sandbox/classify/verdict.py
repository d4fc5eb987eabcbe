"""From a command line to its assessment, and to the plain argument vectors it stands for."""

from __future__ import annotations

from pathlib import Path

from sandbox.classify.findings import Finding, assessment, high, medium, placed
from sandbox.classify.judge import DEEPEST, judge
from sandbox.classify.line import KEYWORDS, Command, Line, is_literal, read_line
from sandbox.classify.place import Place
from sandbox.classify.programs.builtins import JUDGES as _BUILTIN_JUDGES
from sandbox.classify.screen import screen
from sandbox.classify.tree import Reading, Unreadable, read_tree
from sandbox.classify.words import NotPlain
from sandbox.risk import Assessment, Risk

# Names that bash runs itself although a program of that name may exist.
_BUILTINS = frozenset(_BUILTIN_JUDGES) | frozenset("builtin command exec echo printf pwd true false kill time".split())


def classify(command: str, *, workspace: Path, cwd: str = ".", home: Path | None = None) -> Assessment:
    """What running ``command`` in bash would risk.

    workspace: the folder the agent may write. cwd: where it runs, relative to the workspace or absolute. home: the
    home folder ``~`` stands for (default: the user's). Never raises for any text; what cannot be read is high.
    """
    found = screen(command)
    if not any(finding.risk is Risk.HIGH for finding in found):
        found += _judged(command, Place.of(workspace, cwd, home), 0)
    return assessment(placed(found, (0, len(command))), len(command))


def plan(command: str) -> tuple[str, ...] | None:
    """The argument vector of ``command`` when it is one plain program call that needs no shell, else None."""
    line = _plain(command)
    if line is None or len(line.commands) != 1 or any(joined not in ("", "\n", ";") for joined in line.joined):
        return None
    argv = line.commands[0].argv
    return None if argv[0] in _BUILTINS or argv[0] == "" else argv


def commands(command: str) -> tuple[tuple[str, ...], ...] | None:
    """The argument vector of every simple command when all are plain and joined by ``&& || ; |``, else None."""
    line = _plain(command)
    return None if line is None else tuple(item.argv for item in line.commands)


def _plain(command: str) -> Line | None:
    if any(True for _ in screen(command)):
        return None
    try:
        line = read_line(command)
    except NotPlain:
        return None
    if not line.commands or any(joined in ("&", "|&") for joined in line.joined):
        return None
    if "!" in command and any(_negated(command, item) for item in line.commands):
        return None
    fine = all(item.words and is_literal(item) and item.words[0].mask not in KEYWORDS for item in line.commands)
    return line if fine else None


def _negated(command: str, item: Command) -> bool:
    return bool(item.words) and command[item.start : item.words[0].start].strip() != ""


def _judged(text: str, place: Place, depth: int) -> list[Finding]:
    """Every finding for a whole line. None means low: two independent readings agree that it only reads."""
    if depth > DEEPEST:
        return [high("too many commands inside each other to read", contained=False)]
    if not text.strip():
        return []
    try:
        line = read_line(text)
    except NotPlain:
        return _by_tree(text, place, depth)
    found = _sequence(line.commands, place, depth)
    if "&" in line.joined:
        found.append(medium("goes on in the background"))
    return found or _agreed(text, line)


def _by_tree(text: str, place: Place, depth: int) -> list[Finding]:
    try:
        reading = read_tree(text)
    except Unreadable as reason:
        return [high(str(reason), contained=False)]
    found = [*reading.findings, *_sequence(reading.commands, place, depth)]
    return found or [medium("uses more of the shell than plain commands")]


def _sequence(items: tuple[Command, ...], place: Place, depth: int) -> list[Finding]:
    """Judges commands in order; a ``cd`` moves the ones after it."""
    found: list[Finding] = []
    for item in items:
        found += judge(item, place, _judged, depth)
        if item.name in ("cd", "pushd", "popd"):
            operands = [word for word in item.words[1:] if word.text not in ("-L", "-P", "--")]
            place = place.entered(operands[0] if operands else None)
    return found


def _agreed(text: str, line: Line) -> list[Finding]:
    """Nothing, when the syntax tree holds the same commands; doubt otherwise."""
    try:
        reading = read_tree(text)
    except Unreadable:
        return [medium("the line can be read in more than one way")]
    if reading.plain and _same(reading, line):
        return []
    return [medium("the line can be read in more than one way")]


def _same(reading: Reading, line: Line) -> bool:
    ours = [item.argv for item in line.commands if item.words and item.name not in ("[",)]
    theirs = [item.argv for item in reading.commands if item.words]
    return ours == theirs
