"""Runs commands in bash, each in a fresh folder full of traps, and tells what each changed and printed.

A program of its own, started inside bubblewrap by the fuzz test: reads a JSON list of commands from standard input and
answers with a JSON list of ``[changed paths, output]``. It must only ever run where it can harm nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

TOP = Path("/tmp")
WORK, HOME, REPOSITORY, PROGRAMS = TOP / "work", TOP / "home", TOP / "repository", TOP / "bin"
# Files named like options and operators: a pattern that matches them must not become one.
FILES = {
    **{
        "f": "b 2\na 1\n",
        "g": "x\n",
        "src/a.py": "import os\nTODO = 1\n",
        "sub/b.md": "foo\n",
        ".env.example": "A=1\n",
    },
    **{"s.sh": "#!/bin/sh\ntouch M\n", "x.json": '{"name": 1}\n', "a b": "", "touch": "", "e": "", ";": "", "+": ""},
    **dict.fromkeys(("-delete", "-exec", "-oM", "-fprint", "--output=M", "--pre=.s.sh", "-x", "-i"), ""),
}
ENVIRONMENT = {
    "PATH": f"{PROGRAMS}:/usr/local/bin:/usr/bin:/bin",
    "HOME": str(HOME),
    "LANG": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{"X": "-delete", "O": "-oM", "S": "$(touch M)"},
}
SHOW = '#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done\nprintf "\\001"\n'
SECONDS = 3.0
MOST_OUTPUT = 20_000


def prepare() -> None:
    """A program that shows its arguments, and a repository with one commit to copy from."""
    PROGRAMS.mkdir()
    (PROGRAMS / "show").write_text(SHOW)
    (PROGRAMS / "show").chmod(0o755)
    seed = TOP / "seed"
    seed.mkdir()
    (seed / "f").write_text(FILES["f"])
    for words in (["init", "-q"], ["add", "f"], ["commit", "-qm", "one"]):
        git = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(seed), *words]
        subprocess.run(git, check=True, env=ENVIRONMENT)
    (seed / ".git").rename(REPOSITORY)
    shutil.rmtree(seed)


def build() -> None:
    """Fresh workspace and home folders."""
    for folder in (WORK, HOME):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for name, text in FILES.items():
        (WORK / name).parent.mkdir(exist_ok=True)
        (WORK / name).write_text(text)
    (WORK / "s.sh").chmod(0o755)
    shutil.copytree(REPOSITORY, WORK / ".git")


def state() -> dict[str, tuple[int, int, int]]:
    """Mode, size and time of every file; git may refresh its index, which holds no content of its own."""
    seen = {}
    for folder, folders, files in os.walk(TOP):
        if folder == str(TOP):
            folders[:] = [name for name in folders if name not in (REPOSITORY.name, PROGRAMS.name)]
        for name in folders + files:
            path = f"{folder}/{name}"
            if path in (f"{WORK}/.git/index", f"{WORK}/.git"):
                continue
            info = os.lstat(path)
            seen[path] = (info.st_mode, info.st_size, 0 if name in folders else info.st_mtime_ns)
    return seen


def run(command: str) -> str:
    child = subprocess.Popen(
        ["bash", "-c", command],
        cwd=WORK,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        output = child.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        output = child.communicate()[0]
    return output[:MOST_OUTPUT].decode("utf-8", "replace")


def main() -> None:
    prepare()
    build()
    answers = []
    for command in json.load(sys.stdin):
        before = state()
        output = run(command)
        after = state()
        changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
        answers.append([changed, output])
        if changed:
            build()
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
