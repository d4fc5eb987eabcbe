"""sed and awk: little languages that read, unless the program text writes or runs something."""

from __future__ import annotations

import re

from sandbox.classify.call import Call, Judge
from sandbox.classify.findings import Finding, medium
from sandbox.classify.hidden import hidden
from sandbox.classify.options import grammar, parse
from sandbox.classify.programs.files import written
from sandbox.classify.words import Word

_SED = (
    "-n -e: -E -r -s -u -z -l: --quiet --silent --expression= --regexp-extended --separate --unbuffered --null-data "
    "--posix --debug --sandbox"
)
_ADDRESS = r"(?:[0-9]+(?:~[0-9]+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]?)"
_SED_COMMAND = re.compile(
    rf"""(?x) [\s;]* (?: {_ADDRESS} (?: \s*,\s* (?: {_ADDRESS} | [+~][0-9]+ ) )? )? \s* !? \s*
    (?: [{{}}] | (?: [pdPDqQ=nNgGhHxlzF] | [qQl]\s*[0-9]+ | [btT]\s*[A-Za-z0-9_]* | :\s*[A-Za-z0-9_]+
        | s (?P<s>[^\w\s\\;]) (?: (?!(?P=s))[^\\\n] | \\. )* (?P=s) (?: (?!(?P=s))[^\\\n] | \\. )* (?P=s) [gpiIM0-9]*
        | y (?P<y>[^\w\s\\;]) (?: (?!(?P=y))[^\\\n] | \\. )* (?P=y) (?: (?!(?P=y))[^\\\n] | \\. )* (?P=y)
      ) (?= \s* (?: [;}}\n] | $ ) ) )
    """
)


def only_prints(script: str) -> bool:
    """Whether a sed script holds nothing but commands that print: no ``w``, ``e``, ``r`` or anything unknown."""
    if len(script) > 4000:
        return False
    at = 0
    while at < len(script):
        if not script[at:].strip(" \t\n;"):
            return True
        found = _SED_COMMAND.match(script, at)
        if found is None or found.end() == at:
            return False
        at = found.end()
    return True


def sed(call: Call) -> list[Finding]:
    """Low with a printing script; ``-i`` writes the files."""
    in_place = any(re.match(r"-[A-Za-z]*[iI]|--i", text) for text in call.texts)
    if in_place:
        given = any(re.match(r"-[A-Za-z]*e|--expr|--file|-f", text) for text in call.texts)
        files = call.operands()[0 if given else 1 :]
        return [*written(call.place, files, "edits"), *call.secrets(files)]
    parsed = parse(call.args, grammar(_SED))
    if parsed is None:
        return [medium("an option of sed that may write or run something"), *call.secrets(call.args)]
    scripts, files = parsed.values("e", "expression"), list(parsed.operands)
    if not scripts:
        scripts, files = files[:1], files[1:]
    for script in scripts:
        if not script.literal or not only_prints(script.text):
            found = [medium("a sed script that may write or run something", at=script), *hidden([script])]
            return found + call.secrets(files)
    return call.secrets(files) + _chosen_later(files)


def awk(call: Call) -> list[Finding]:
    """Low when the program text cannot write, run or read on: no pipe, no ``system``, no ``>`` after a print."""
    parsed = parse(call.args, grammar("-F: -v:", permute=False))
    if parsed is None or not parsed.operands:
        return [medium("an option of awk that may write or run something"), *call.secrets(call.args)]
    program, *files = parsed.operands
    if not program.literal or not _only_computes(program.text):
        found = [medium("an awk program that may write or run something", at=program), *hidden([program])]
        return found + call.secrets(files)
    if any(word.could_be_option or word.text.startswith("-") for word in files):
        return [medium("an option of awk that may write or run something")]
    return call.secrets(files) + _chosen_later(files)


def _only_computes(program: str) -> bool:
    if re.search(
        r"system|getline|@|\||/inet|ARGV|ENVIRON|/(?:etc|root|home|proc|dev)\b|\\\n", program.replace("||", "")
    ):
        return False
    printed = re.search(r"print", program)
    return printed is None or ">" not in program[printed.end() :]


def _chosen_later(files: list[Word]) -> list[Finding]:
    return [medium("reads a file that is chosen only when it runs", at=word) for word in files if word.unknown]


JUDGES: dict[str, Judge] = {
    **dict.fromkeys(("sed", "gsed"), sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), awk),
}
