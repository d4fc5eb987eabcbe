"""find: tests are harmless, actions run, write or delete."""

from __future__ import annotations

from fnmatch import fnmatchcase

from sandbox.classify.call import Call
from sandbox.classify.findings import Finding, high, medium
from sandbox.classify.place import Place
from sandbox.classify.words import Word
from sandbox.classify.wrappers import fed

_RUNS = ("-exec", "-execdir", "-ok", "-okdir")
_WRITES = ("-fprint", "-fprint0", "-fprintf", "-fls")
_ACTIONS = (*_RUNS, *_WRITES, "-delete")
_TESTS = frozenset(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype -size "
    "-empty -newer -anewer -cnewer -newermt -newerat -newerct -mtime -mmin -atime -amin -ctime -cmin -daystart -perm "
    "-user -group -uid -gid -nouser -nogroup -links -inum -samefile -readable -writable -executable -maxdepth "
    "-mindepth -depth -d -mount -xdev -prune -quit -print -print0 -printf -ls -not -and -or -a -o -true -false "
    "-follow -noleaf -H -L -P -O0 -O1 -O2 -O3 -fstype -used -warn -nowarn -ignore_readdir_race "
    "-noignore_readdir_race -help --help -version --version".split()
)
# Programs that show what is inside the files they are given; below the home folder that includes keys.
_SHOWS_NAMES = frozenset("ls stat du file basename dirname realpath readlink echo printf test wc".split())


def find(call: Call) -> list[Finding]:
    """Every word is looked at, also where it may be the value of a test: rather once too often."""
    words = call.args
    found: list[Finding] = []
    i = 0
    while i < len(words):
        word = words[i]
        if word.could_be_option and not _harmless_glob(word):
            found.append(medium("a word that may become an action of find", at=word))
        elif word.text in _RUNS:
            inner, i = _inner(words, i + 1)
            found += _runs(call, word, inner)
        elif word.text == "-delete":
            found.append(high("deletes what it finds", "deletes the files that match", at=word))
        elif word.text in _WRITES:
            found += _writes(call.place, word, words[i + 1 : i + 2])
        elif word.text.startswith("-") and len(word.text) > 1 and word.text not in _TESTS and not _value(words, i):
            found.append(medium(f"{word.text[:30]} of find is not known to be harmless", at=word))
        i += 1
    roots = _roots(words)
    found += call.secrets(roots, content=False)
    if "xargs" in call.downstream and not _SHOWS_NAMES & set(call.downstream):
        found += _keys(call.place, roots)
    return found


def _value(words: tuple[Word, ...], i: int) -> bool:
    """Whether word ``i`` is the number after a test such as ``-mtime -7`` or ``-perm -111``."""
    tests = (
        "-mtime",
        "-atime",
        "-ctime",
        "-mmin",
        "-amin",
        "-cmin",
        "-size",
        "-perm",
        "-links",
        "-user",
        "-uid",
        "-gid",
    )
    return i > 0 and words[i - 1].text in tests and words[i].literal


def _harmless_glob(word: Word) -> bool:
    """An unquoted ``*.py`` may become file names, but none that is an action."""
    return word.glob and not word.unknown and not any(fnmatchcase(action, word.text) for action in _ACTIONS)


def _inner(words: tuple[Word, ...], start: int) -> tuple[list[Word], int]:
    """The words of an inner command, and the index of the word that ends it."""
    for end in range(start, len(words)):
        if words[end].text == ";" or (words[end].text == "+" and words[end - 1].text == "{}"):
            return list(words[start:end]), end
    return list(words[start:]), len(words)


def _runs(call: Call, action: Word, inner: list[Word]) -> list[Finding]:
    if not inner:
        return [medium("an action of find without a command", at=action)]
    # With -execdir the program is looked up where the files are; with paths from find they never look like options.
    words = [fed(word, "{}") for word in inner]
    words = [_path(word) if word.fed else word for word in words]
    found = call.run(words)
    if not found and inner[0].text not in _SHOWS_NAMES:
        found = _keys(call.place, _roots(call.args))
    return found


def _path(word: Word) -> Word:
    return Word(word.text or "./", word.start, word.end, word.mask, fed=True)


def _writes(place: Place, action: Word, target: tuple[Word, ...]) -> list[Finding]:
    if target and target[0].literal and target[0].text == "/dev/null":
        return []
    if not target or place.outside(target[0]):
        return [high("writes outside the workspace", contained=False, at=action)]
    return [medium("writes a file", f"writes {target[0].text[:60]}", at=action)]


def _roots(words: tuple[Word, ...]) -> list[Word]:
    roots = []
    for word in words:
        if word.text in ("-H", "-L", "-P") or word.text.startswith("-O"):
            continue
        if word.text.startswith(("-", "(", "!", ",")):
            break
        roots.append(word)
    return roots


def _keys(place: Place, roots: list[Word]) -> list[Finding]:
    if any(place.covers_home(word) for word in roots):
        return [high("reads everything in the home folder, keys included", contained=False)]
    return []
