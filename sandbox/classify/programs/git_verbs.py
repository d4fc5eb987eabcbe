"""The verbs of git, by what they do."""

from __future__ import annotations

import re

from sandbox.classify.options import grammar, parse
from sandbox.classify.words import Word

READS = frozenset(
    "status log diff show shortlog blame annotate grep describe rev-parse rev-list ls-files ls-tree cat-file "
    "for-each-ref show-ref show-branch merge-base name-rev diff-tree diff-index diff-files count-objects "
    "check-ignore check-attr check-ref-format cherry range-diff version var "
    "verify-pack".split()
)
NETWORK = frozenset("fetch pull clone ls-remote".split())
HIGH_VERBS = {
    "push": ("leaves this machine and cannot be taken back from here", "sends commits to {to}", False),
    "send-email": ("leaves this machine", "sends mail", False),
    "send-pack": ("leaves this machine", "sends commits to {to}", False),
    "http-push": ("leaves this machine", "sends commits to {to}", False),
    "daemon": ("opens this repository to the network", "serves the repository", False),
    "instaweb": ("opens this repository to the network", "serves the repository", False),
    "credential": ("reads or stores passwords", "uses stored passwords", False),
    "filter-branch": ("rewrites history", "rewrites every commit", True),
    "filter-repo": ("rewrites history", "rewrites every commit", True),
    "update-ref": ("moves or deletes references directly", "changes references", True),
    "gc": ("may delete what is needed to bring work back", "cleans the object store", True),
    "prune": ("may delete what is needed to bring work back", "cleans the object store", True),
    "replace": ("makes objects mean something else", "replaces objects", True),
    "shell": ("opens a shell", "opens a shell", False),
}
EFFECTS = {
    "add": "stages {files}",
    "commit": "makes a commit",
    "checkout": "switches to {files}",
    "switch": "switches to {files}",
    "merge": "merges {files}",
    "rebase": "rewrites commits of this branch",
    "cherry-pick": "applies {files}",
    "revert": "undoes {files} with a commit",
    "reset": "unstages or moves the branch",
    "restore": "unstages {files}",
    "stash": "puts changes aside or brings them back",
    "branch": "makes or changes branch {files}",
    "tag": "makes tag {files}",
    "mv": "moves {files}",
    "rm": "removes {files}",
    "init": "makes a repository",
    "apply": "applies a patch",
    "am": "applies patches as commits",
    "remote": "changes the list of remotes",
    "worktree": "changes work trees",
    "submodule": "changes submodules",
    "clean": "shows files git does not know",
    "bisect": "switches between commits",
    "notes": "changes notes",
}

_BRANCH = (
    "-a -r -v -l -i --list --all --remotes --verbose --show-current --color? --no-color --column? --no-column "
    "--sort= --format= --contains= --no-contains= --merged? --no-merged? --points-at= --abbrev? --no-abbrev "
    "--ignore-case"
)
_TAG = (
    "-l -n? -i --list --color? --column? --no-column --sort= --format= --contains= --no-contains= --merged? --no- "
    "merged? --points-at="
)
_CONFIG = (
    "-l -z --list --get= --get-all= --get-regexp= --global --local --system --worktree --show-origin --show-scope "
    "--null --name-only --includes --no-includes --type= --bool --int --path"
)


def listing(verb: str, args: list[Word]) -> bool:
    """Whether a verb that can write is used here only to list."""
    texts = [word.text for word in args]
    first = texts[0] if texts else ""
    if any(not word.literal for word in args):
        return False
    if verb in ("branch", "tag"):
        parsed = parse(args, grammar(_BRANCH if verb == "branch" else _TAG))
        selects = parsed is not None and parsed.has("l", "list", "merged", "no-merged")
        return parsed is not None and (not parsed.operands or (parsed.has("l", "list") and selects))
    if verb == "remote":
        rest = [text for text in texts if text not in ("-v", "--verbose")]
        return not rest or (rest[0] == "get-url" and all(re.fullmatch(r"[\w./-]+", text) for text in rest))
    if verb == "config":
        parsed = parse(args, grammar(_CONFIG))
        reads = parsed is not None and parsed.has("l", "list", "get", "get-all", "get-regexp") and not parsed.operands
        names_one = len(texts) == 1 and re.fullmatch(r"[A-Za-z][\w-]*(\.[\w-]+)+", first) is not None
        return (
            reads
            or names_one
            or (texts != [] and first in ("list", "get") and not any(t.startswith("-") for t in texts))
        )
    if verb in ("stash", "reflog", "worktree", "notes", "bisect"):
        return first in _LISTS[verb] and not any(text.startswith(("--o", "--ext", "--exp")) for text in texts)
    if verb == "symbolic-ref":
        return len(texts) == 1 + texts.count("--short") + texts.count("-q") and not first.startswith("-d")
    return False


_LISTS = {
    "stash": ("list", "show"),
    "reflog": ("", "show", "list", "exists"),
    "worktree": ("list",),
    "notes": ("", "list", "show"),
    "bisect": ("log",),
}
