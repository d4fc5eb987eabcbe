"""Programs that only read: some whatever their options, others only with the options listed here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandbox.classify.call import Call, Judge
from sandbox.classify.findings import Finding, high, medium
from sandbox.classify.hidden import hidden
from sandbox.classify.options import grammar, parse
from sandbox.classify.words import Word

# No option of these writes a file or runs a program. They show what is inside files.
_CONTENT = (
    "cat head tail wc tac rev nl od hexdump strings cut tr paste join comm fold fmt expand unexpand pr diff cmp column "
    "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum tsort"
).split()
# Likewise, and they show names, sizes and states only.
_NAMES = (
    "ls dir vdir stat du df basename dirname realpath readlink pathchk seq factor numfmt expr true false id whoami "
    "groups uname arch nproc tty logname users who w uptime free ps pgrep pidof lscpu lsblk lsusb lspci printenv "
    "locale getconf which whereis yes sleep cal pwd eza exa tokei getent vmstat"
).split()
# Likewise; the first operand is a pattern or a program text, not a file.
_PATTERN = "grep egrep fgrep rgrep jq".split()


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that only reads with these ``options`` and at most ``operands`` operands.

    deny: letters refused anywhere in a cluster, for programs that read clusters in a way of their own.
    clusters: whether ``-ab`` means ``-a -b``. pattern: the first operand is no file.
    """

    options: str
    operands: int = 10_000
    deny: str = ""
    clusters: bool = True
    pattern: bool = False
    content: bool = True


_READERS = {
    "sort": Reader(
        "-b -d -f -g -h -i -M -n -R -r -V -c -C -k: -m -s -S: -t: -u -z --key= --field-separator= --reverse --unique "
        "--numeric-sort --human-numeric-sort --version-sort --general-numeric-sort --month-sort --random-sort "
        "--sort= --ignore-case --dictionary-order --ignore-leading-blanks --ignore-nonprinting --check? --stable "
        "--merge --debug --zero-terminated --parallel= --buffer-size= --batch-size="
    ),
    "shuf": Reader("-e -i: -n: -r -z --echo --input-range= --head-count= --repeat --zero-terminated"),
    "uniq": Reader(
        "-c -d -D -f: -i -s: -u -w: -z --count --repeated --unique --ignore-case --all-repeated? --skip-fields= "
        "--skip-chars= --check-chars= --group? --zero-terminated",
        operands=1,
    ),
    "tree": Reader(
        "-a -d -f -l -x -L: -P: -I: -i -p -u -g -s -h -D -F -C -n -N -q -t -c -r -v -U -S -J -A --dirsfirst "
        "--filesfirst --noreport --prune --gitignore --filelimit= --du --charset= --matchdirs --ignore-case --sort? "
        "--nolinks --si --inodes --timefmt= --version --help",
        deny="oR",
        content=False,
    ),
    "file": Reader(
        "-b -i -L -h -k -r -N -n -F: -0 -e: --brief --mime --mime-type --mime-encoding --dereference "
        "--no-dereference --keep-going --raw --extension --separator= --exclude= --version",
        content=False,
    ),
    "hostname": Reader("-s -f -i -I -d -A --short --fqdn --ip-address --domain", operands=0),
    "xxd": Reader("-b -c: -e -g: -i -l: -o: -p -s: -u", operands=1, clusters=False),
    "less": Reader("-R -S -N -X -F -E -i -I -n -r -M -m -s", deny="oOkPT"),
    "more": Reader("-d -f -p -c -s -u"),
    "zipinfo": Reader("-1 -l -m -s -h -t"),
    "fd": Reader(
        "-H -I -u -s -i -g -F -a -L -p -0 -d: -t: -e: -S: -E: -o: -j: -q -1 -c: --hidden --no-ignore --no-ignore-vcs "
        "--unrestricted --case-sensitive --ignore-case --glob --fixed-strings --regex --absolute-path --follow "
        "--full-path --print0 --max-depth= --min-depth= --exact-depth= --type= --extension= --size= --exclude= "
        "--changed-within= --changed-before= --owner= --color= --max-results= --one-file-system --threads= "
        "--strip-cwd-prefix? --and= --base-directory= --path-separator= --search-path= --prune --quiet --version "
        "--help",
        deny="xX",
        pattern=True,
        content=False,
    ),
    "rg": Reader(
        "-n -i -S -s -w -x -v -c -l -o -F -P -U -L -H -I -N -a -p -q -0 -u -. -V -b -e: -f: -g: -t: -T: -A: -B: -C: "
        "-m: -M: -d: -j: -r: -E: --line-number --no-line-number --ignore-case --smart-case --case-sensitive "
        "--word-regexp --files --line-regexp --invert-match --count --count-matches --files-with-matches "
        "--files-without-match --only-matching --fixed-strings --pcre2 --multiline --multiline-dotall --follow "
        "--with-filename --no-filename --text --pretty --quiet --null --unrestricted --hidden --version --help "
        "--byte-offset --regexp= --file= --glob= --iglob= --type= --type-not= --after-context= --before-context= "
        "--context= --max-count= --max-columns= --max-columns-preview --max-depth= --threads= --replace= --encoding= "
        "--type-list --no-ignore --no-ignore-vcs --no-ignore-parent --no-heading --heading --color= --colors= "
        "--column --no-column --json --sort= --sortr= --stats --trim --no-messages --vimgrep --passthru --crlf "
        "--engine= --max-filesize= --one-file-system --no-config --debug --binary --path-separator= --type-add= "
        "--context-separator= --no-unicode --line-buffered --include-zero",
        deny="z",
        pattern=True,
    ),
}
# On macOS `-o` of base64 names an output file.
_READERS["base64"] = _READERS["base32"] = Reader("-d -D -i -w: --decode --wrap= --ignore-garbage")
_READERS["fdfind"] = _READERS["fd"]


def content(call: Call) -> list[Finding]:
    return _look(call, list(call.args), shows_content=True)


def names(call: Call) -> list[Finding]:
    return _look(call, list(call.args), shows_content=False)


def pattern(call: Call) -> list[Finding]:
    """The first operand is no path, unless an option already gave the pattern."""
    words = list(call.args)
    given = re.compile(r"-[A-Za-z]*[ef]|--(?:regexp|file|from-file)")
    if not any(given.match(word.text) for word in words):
        first = next((word for word in words if not word.text.startswith("-")), None)
        words = [word for word in words if word is not first]
    found = _look(call, words, shows_content=True)
    recursive = call.name == "rgrep" or any(re.match(r"-[A-Za-z]*[rR]|--(?:dereference-)?rec", t) for t in call.texts)
    return found + (_recursive(call, words) if recursive and call.name != "jq" else [])


def strict(call: Call) -> list[Finding]:
    """Only the options on the list; anything else is not known to be harmless."""
    reader = _READERS[call.name]
    parsed = parse(call.args, grammar(reader.options))
    if parsed is None or any(_denied(word, reader) for word in call.args):
        found = [medium(f"an option of {call.name} that may write or run something"), *call.secrets(call.args)]
        return found + _given_program(call) + hidden(call.args)
    operands = list(parsed.operands)
    if len(operands) > reader.operands or any(word.glob and reader.operands == 1 for word in operands):
        return [medium(f"{call.name} writes to its second file", f"writes {operands[-1].text[:60]}")]
    if call.name in ("less", "more") and any(word.text.startswith("+") for word in operands):
        return [medium("runs commands of the pager")]
    if reader.pattern and not parsed.has("e", "regexp", "f", "file", "files"):
        operands = operands[1:]
    values = [value for _, value in parsed.options if value is not None]
    found = _look(call, [*operands, *values], reader.content)
    if call.name == "rg" and parsed.has("u", "unrestricted", "hidden", ".", "no-ignore"):
        found += _recursive(call, operands)
    return found


def _denied(word: Word, reader: Reader) -> bool:
    text = word.text
    if not text.startswith("-") or text.startswith("--"):
        return False
    if not reader.clusters and not re.fullmatch(r"-[A-Za-z][0-9]*", text):
        return True
    return any(letter in text[1:] for letter in reader.deny)


def _given_program(call: Call) -> list[Finding]:
    """What ``fd -x PROGRAM …`` runs."""
    starts = ("-x", "-X", "--exec", "--exec-batch")
    index = next((i for i, text in enumerate(call.texts) if text in starts), None)
    return call.run(call.args[index + 1 :]) if index is not None and index + 1 < len(call.args) else []


def _look(call: Call, words: list[Word], shows_content: bool) -> list[Finding]:
    """Reading ``words``: private files, and files chosen only when the command runs."""
    found = call.secrets(words, shows_content)
    if shows_content:
        found += [medium("reads a file that is chosen only when it runs", at=word) for word in words if word.unknown]
    return found


def _recursive(call: Call, words: list[Word]) -> list[Finding]:
    roots = [word for word in words if not word.text.startswith("-")] or [Word(".", call.head.start, call.head.end)]
    if any(call.place.covers_home(word) for word in roots):
        return [high("reads everything in the home folder, keys included", contained=False)]
    return []


def tar_list(call: Call) -> list[Finding] | None:
    """``tar tf FILE``: lists an archive. None for any other use of tar."""
    if not call.plain or len(call.args) < 2 or not re.fullmatch(r"-?[vzjJ]*t[vzjJ]*f", call.texts[0]):
        return None
    if any(text.startswith("-") or ":" in text for text in call.texts[1:]):
        return None
    return call.secrets(call.args[1:2])


def date(call: Call) -> list[Finding]:
    """Prints the time; a bare number or ``-s`` would set the clock."""
    known = "-d: -u -R -I? -r: --date= --utc --universal --rfc-3339= --iso-8601? --reference= --rfc-email --version"
    parsed = parse(call.args, grammar(known))
    if parsed is None or any(not word.text.startswith("+") for word in parsed.operands):
        return [high("sets the clock", contained=False)] if parsed is None else [medium("may set the clock")]
    return []


def said(call: Call) -> list[Finding]:
    """``echo`` prints its words; a private path handed to the next program counts."""
    return call.secrets(call.args) if call.downstream else []


_PRINTS_ONLY = re.compile(
    r"(?:[^%]|%%|%\([^()%]*(?:%[A-Za-z%][^()%]*)*\)T|%[-+ #0']*[0-9]*(?:\.[0-9]*)?[sdiouxXfFeEgGcbq])*"
)


def printf(call: Call) -> list[Finding]:
    """``printf -v NAME`` and ``%n`` assign instead of printing."""
    head = call.args[0] if call.args else None
    if head is not None and (not head.literal or head.text.startswith("-") or not _PRINTS_ONLY.fullmatch(head.text)):
        return [medium("printf that may assign a variable")]
    return said(call)


def tee(call: Call) -> list[Finding] | None:
    """Without a file, ``tee`` only passes on. None when it writes."""
    files = [word for word in call.args if word.text not in ("-a", "-i", "-ai", "/dev/null", "/dev/stderr")]
    return None if files else []


JUDGES: dict[str, Judge] = {
    **dict.fromkeys(_CONTENT, content),
    **dict.fromkeys(_NAMES, names),
    **dict.fromkeys(_PATTERN, pattern),
    **dict.fromkeys(_READERS, strict),
    "date": date,
    "echo": said,
    "printf": printf,
}
