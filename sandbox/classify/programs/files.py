"""Programs that change files: what they delete, write or open up, and whether that stays in the workspace."""

from __future__ import annotations

import re

from sandbox.classify.call import Call, Judge, path_in
from sandbox.classify.findings import Finding, high, listed, medium
from sandbox.classify.place import Place
from sandbox.classify.programs import readers
from sandbox.classify.words import Word


def written(place: Place, words: list[Word], effect: str) -> list[Finding]:
    """Findings for writing to each of ``words``: outside, protected or run later is high."""
    found = [medium("changes files", f"{effect} {listed(words)}" if words else "")]
    for word in words:
        if word.text in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
            continue
        if word.text.startswith("/dev/"):
            found.append(high("writes to a device", f"overwrites {word.text[:60]}", contained=False, at=word))
        elif place.starts_later(word) or place.protected(word):
            found.append(
                high(
                    "changes what runs later, outside this session",
                    f"{effect} {listed([word])}",
                    contained=False,
                    at=word,
                )
            )
        elif place.outside(word):
            found.append(high("reaches outside the workspace", f"{effect} {listed([word])}", contained=False, at=word))
    return found


def _letters(call: Call) -> str:
    return "".join(text[1:] for text in call.texts if re.match(r"-[A-Za-z]", text))


def rm(call: Call) -> list[Finding]:
    """One named file is medium; folders, patterns and force cannot be taken back."""
    files = call.operands()
    found = written(call.place, files, "deletes")
    wide = any(not word.literal or word.text in (".", "..", "/", "") for word in files)
    if (
        set(_letters(call)) & set("rRf")
        or any(text.startswith(("--r", "--f", "--no-p")) for text in call.texts)
        or wide
    ):
        found.append(high("deletes for good", f"deletes {listed(files)}"))
    return found


def destroys(call: Call) -> list[Finding]:
    files = call.operands()
    return [high("destroys what files hold", f"empties {listed(files)}"), *written(call.place, files, "empties")]


def copies(call: Call) -> list[Finding]:
    """cp, mv, ln, install: the last operand, or the one after ``-t``, is written; the others are read or moved."""
    words = call.operands()
    targets = words[-1:]
    for i, text in enumerate(call.texts):
        if text in ("-t", "--target-directory"):
            targets = list(call.args[i + 1 : i + 2])
        elif text.startswith(("--target-directory=", "-t")):
            targets = [path_in(call.args[i])]
    sources = [word for word in words if word not in targets]
    verb = {"mv": "moves to", "ln": "links", "cp": "copies to", "install": "installs"}.get(call.name, "writes")
    found = written(call.place, targets, verb)
    found += call.secrets(sources)
    if call.name == "mv":
        found += [item for item in written(call.place, sources, "moves away") if item.span]
    if call.name == "install" and re.search(r"-m ?[0-7]*[2467][0-7]{3}", " ".join(call.texts)):
        found.append(high("gives a program the rights of its owner"))
    return found


def writes(call: Call) -> list[Finding]:
    """touch, mkdir, split, patch and the like: every operand may be written."""
    found = written(call.place, call.operands(), _EFFECTS.get(call.name, "writes"))
    return found + call.secrets(call.operands())


def tee(call: Call) -> list[Finding]:
    found = readers.tee(call)
    return written(call.place, call.operands(), "writes") if found is None else found


def chmod(call: Call) -> list[Finding]:
    """Rights: set-uid, everyone-may-write and whole trees are high."""
    found = written(call.place, call.operands()[1:], "changes rights of")
    mode = next((text for text in call.texts if re.match(r"-?[ugoa]*[-+=][rwxXstugo]|[0-7]{1,4}$", text)), "")
    if re.search(r"[-+=][rwxX]*s", mode) or re.fullmatch(r"[2467][0-7]{3}", mode):
        found.append(high("gives a program the rights of its owner", contained=False))
    if re.search(r"(^[0-7]?[0-7][0-7][2367]$)|(^|[ao,])[ao]?[+=][rx]*w", mode) and not mode.startswith(("u", "g")):
        found.append(high("lets everybody write", f"changes rights of {listed(call.operands()[1:])}"))
    if "R" in _letters(call) and mode.startswith(("7", "0", "a", "o")):
        found.append(high("changes the rights of a whole tree"))
    return found


def chown(call: Call) -> list[Finding]:
    return [high("gives files to another owner", f"changes owner of {listed(call.operands()[1:])}", contained=False)]


def dd(call: Call) -> list[Finding]:
    """``of=`` is written; a device there is lost."""
    targets = [word.tail(3) for word in call.args if word.text.startswith("of=")]
    sources = [word.tail(3) for word in call.args if word.text.startswith("if=")]
    return written(call.place, targets, "overwrites") + call.secrets(sources)


def archive(call: Call) -> list[Finding]:
    """tar, zip, unzip: listing is low; packing and unpacking write; tar can run programs."""
    if call.name == "tar" and (only_lists := readers.tar_list(call)) is not None:
        return only_lists
    if call.name == "unzip" and call.plain and len(call.args) == 2 and call.texts[0] in ("-l", "-v", "-Z", "-Z1"):
        return call.secrets(call.args[1:])
    runs = ("--checkpoint-a", "--to-c", "--use-c", "--rsh", "--info-s", "--new-v", "-I", "-F", "--unzip-command", "-TT")
    if any(text.startswith(runs) for text in call.texts):
        return [high("runs a program named in its options")]
    found = written(call.place, [], "")
    for i, text in enumerate(call.texts):
        if text in ("-C", "-d", "-f", "--directory", "--file"):
            found += [item for item in written(call.place, list(call.args[i + 1 : i + 2]), "writes to") if item.span]
    effect = "packs or unpacks files"
    return [*found, medium("writes many files", effect), *call.secrets(call.operands())]


def other_diff(call: Call) -> list[Finding]:
    return [medium(f"{call.name} may write or run something")]


_EFFECTS = {"touch": "creates", "mkdir": "creates", "rmdir": "removes", "mkfifo": "creates", "mktemp": "creates"}

JUDGES: dict[str, Judge] = {
    **dict.fromkeys(("rm", "unlink"), rm),
    **dict.fromkeys("shred truncate wipe srm wipefs fallocate".split(), destroys),
    **dict.fromkeys("cp mv ln install link rename".split(), copies),
    **dict.fromkeys("touch mkdir rmdir mkfifo mktemp split csplit patch gzip gunzip xz bzip2 zstd".split(), writes),
    **dict.fromkeys("tar bsdtar zip unzip 7z cpio ar".split(), archive),
    **dict.fromkeys("sdiff diff3".split(), other_diff),
    **dict.fromkeys("chown chgrp setfacl chattr setcap".split(), chown),
    "chmod": chmod,
    "dd": dd,
    "tee": tee,
}
