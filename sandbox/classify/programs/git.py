"""git: which subcommands only read, with which options, and what the others do."""

from __future__ import annotations

import re

from sandbox.classify.call import Call, path_in
from sandbox.classify.findings import Finding, high, listed, medium
from sandbox.classify.hidden import hidden
from sandbox.classify.place import Place
from sandbox.classify.programs.git_config import runs_programs
from sandbox.classify.programs.git_verbs import EFFECTS, HIGH_VERBS, NETWORK, READS, listing
from sandbox.classify.words import Word

_HARMLESS_KEY = re.compile(
    r"(?i)(?:color\.[a-z.]+|core\.quotepath|core\.abbrev|diff\.(?:noprefix|context|renames|algorithm|mnemonicprefix)|advice\.[a-z]+"
    r"|log\.(?:date|decorate)|column\.ui|status\.(?:short|branch|showuntrackedfiles)|core\.pager=cat)"
    r"(?:=[A-Za-z0-9_-]*)?|core\.pager="
)
_GLOBAL_FLAGS = {
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--icase-pathspecs",
}
_PRINTS = {"--version", "-v", "--exec-path", "--html-path", "--man-path", "--info-path"}


def git(call: Call) -> list[Finding]:
    """Global options first, then the subcommand."""
    found: list[Finding] = []
    words = list(call.args)
    place = call.place
    while words and words[0].text.startswith("-"):
        option = words.pop(0)
        if option.text in _PRINTS:
            return found
        if option.text == "-C" and words:
            place = place.inside(words.pop(0))
        elif option.text == "-c" and words:
            found += _setting(words.pop(0))
        elif option.text not in _GLOBAL_FLAGS or not option.literal:
            found.append(medium(f"{option.text[:40]} of git may run another program", at=option))
            if option.text in ("--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env") and words:
                words.pop(0)
    if not words:
        return found or ([medium("git without a verb")] if call.args else [])
    if not words[0].literal:
        return [*found, medium("a verb of git that is known only when it runs", at=words[0])]
    found += _verb(call, words[0], words[1:])
    if not found:
        found = _repository(place)
    return found


def _setting(word: Word) -> list[Finding]:
    if word.literal and _HARMLESS_KEY.fullmatch(word.text):
        return []
    name = word.text.partition("=")[0][:40]
    return [medium(f"sets {name} for this call, which may run another program", at=word), *hidden([word])]


def _verb(call: Call, verb: Word, args: list[Word]) -> list[Finding]:
    name = verb.text
    if name in HIGH_VERBS:
        reason, does, contained = HIGH_VERBS[name]
        return [high(reason, does.format(to=_remote(args)), contained=contained)]
    lost = _destroys(name, args)
    if lost:
        return [high("throws work away that cannot be brought back", lost)]
    if name in NETWORK or (name == "remote" and _texts(args)[:1] in (["update"], ["show"], ["prune"])):
        return _network(args)
    if name in READS or listing(name, args):
        return _reads(call, name, args)
    if name == "config":
        return _config(args)
    found: list[Finding] = []
    if name in _RUN_TEXT and args:
        found = hidden([Word(" ".join(_texts(args)), args[0].start, args[-1].end)])
    effect = EFFECTS.get(name)
    if effect is None:
        return [*found, medium(f"git {name[:30]} is not known to only read")]
    return [*found, medium("changes the repository", effect.format(files=listed(_operands(args)) or "changes"))]


# Verbs whose arguments may be commands; a message of a commit may speak of anything.
_RUN_TEXT = frozenset(("bisect", "submodule", "rebase", "config", "difftool", "mergetool", "for-each-repo"))


def _reads(call: Call, name: str, args: list[Word]) -> list[Finding]:
    """A reading verb: low unless an option writes a file or starts a program."""
    paths_only = False
    for word in args:
        if word.text == "--" and word.literal:
            paths_only = True
        elif not paths_only and (word.could_be_option or _writes(name, word)):
            return [medium("an option of git that writes a file or runs a program", at=word)]
    found = call.secrets([path_in(word) for word in args if not word.text.startswith("-")])
    return found


# Options of reading verbs that write or start something; git accepts any unambiguous beginning of them.
_DENIED = (
    "output",
    "ext-diff",
    "show-signature",
    "open-files-in-pager",
    "exec",
    "upload-pack",
    "receive-pack",
    "filters",
    "paginate",
)


def _writes(name: str, word: Word) -> bool:
    text = word.text
    if "%G" in text or "(signature" in text:
        return True
    if text.startswith("--"):
        option = text[2:].partition("=")[0]
        return len(option) > 0 and any(denied.startswith(option) for denied in _DENIED)
    return text.startswith("-") and name == "grep" and "O" in text


def _destroys(name: str, args: list[Word]) -> str:
    """What would be lost, in words; empty when the verb loses nothing."""
    texts = _texts(args)
    short = "".join(text[1:] for text in texts if re.fullmatch(r"-[A-Za-z]+", text))
    long = [text for text in texts if text.startswith("--")]

    def given(*names: str) -> bool:
        return any(len(text) > 3 and full.startswith(text.partition("=")[0]) for text in long for full in names)

    if name == "reset" and given("--hard", "--merge", "--keep"):
        return "discards uncommitted changes"
    if name == "clean" and not ("n" in short or given("--dry-run")):
        return "deletes files git does not know"
    paths = len(_operands(args)) > 1 and not (set(short) & set("bB") or given("--orphan", "--track"))
    if name == "checkout" and (given("--force") or "f" in short or "." in texts or "--" in texts or paths):
        return "discards uncommitted changes"
    if name == "restore" and (given("--worktree") or not (given("--staged") or "S" in short)):
        return "discards uncommitted changes"
    if name == "switch" and (given("--force", "--discard-changes") or "f" in short or "C" in short):
        return "discards uncommitted changes"
    if name == "branch" and (set(short) & set("DdMCf") or given("--delete", "--force")):
        return f"deletes or moves branch {listed(_operands(args))}"
    if name == "tag" and (set(short) & set("df") or given("--delete", "--force")):
        return f"deletes or moves tag {listed(_operands(args))}"
    if name == "stash" and texts[:1] in (["drop"], ["clear"]):
        return "deletes stashed changes"
    if name == "reflog" and texts[:1] in (["expire"], ["delete"]):
        return "deletes the record needed to bring work back"
    if name == "worktree" and texts[:1] == ["remove"]:
        return "deletes a work tree"
    if name == "rm" and ("f" in short or given("--force")):
        return f"deletes {listed(_operands(args))}"
    return ""


def _network(args: list[Word]) -> list[Finding]:
    if any(re.search(r"(^|=)ext::|^-u|^--(up|exec)", word.text) or word.text.startswith("--upload") for word in args):
        return [high("runs a program named in the address", contained=False)]
    return [medium("needs the network", f"talks to {_remote(args)}", contained=False)]


def _config(args: list[Word]) -> list[Finding]:
    texts = _texts(args)
    if any(text.startswith(("--glo", "--sys", "--f", "-f")) for text in texts):
        return [high("changes settings that outlive this session", "changes git settings", contained=False)]
    return [medium("changes git settings, which may name programs to run", "changes git settings"), *hidden(args)]


def _repository(place: Place) -> list[Finding]:
    """A repository's own settings may name programs that even ``git status`` runs."""
    if not place.cwds:
        return [medium("runs in a repository that is not known")]
    if any(runs_programs(cwd) for cwd in place.cwds):
        return [medium("the settings of this repository name programs that git runs")]
    return []


def _operands(args: list[Word]) -> list[Word]:
    return [word for word in args if not word.text.startswith("-")]


def _remote(args: list[Word]) -> str:
    operands = _operands(args)
    return operands[0].text[:60] if operands else "the default remote"


def _texts(args: list[Word]) -> list[str]:
    return [word.text for word in args]
