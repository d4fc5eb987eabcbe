"""Shells and interpreters: code given in the line, a file, or whatever comes in."""

from __future__ import annotations

import re

from sandbox.classify.call import Call, Judge
from sandbox.classify.findings import Finding, at_least_medium, high, medium

SHELLS = frozenset("sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh powershell nu xonsh elvish".split())
_POSIX = frozenset("sh bash dash".split())
_INTERPRETERS = re.compile(
    r"(?:python|pypy|ruby|perl|php|lua|luajit|tclsh|wish|Rscript|julia|groovy|guile|racket|swipl|ghci|irb|iex|elixir|erl|scala)"
    r"[0-9.]*|node|nodejs|deno|bun|ipython[0-9]?|bpython|jshell|R|psql|mysql|sqlite3|gdb|lldb|ed|ex|vi|vim|nvim|emacs|nano"
)
_CODE = re.compile(r"-[A-Za-z]*[ceErp]$|--(?:eval|print|command|execute)(?:=|$)|-[eEc].|-i$")


def shell(call: Call) -> list[Finding]:
    """``-c`` is judged by its text; a script file is medium; input or a prompt is high."""
    if call.texts in (["--version"], ["--help"]):
        return []
    script = None
    options: list[str] = []
    words = list(call.args)
    while words and words[0].text[:1] in ("-", "+") and len(words[0].text) > 1 and script is None:
        word = words.pop(0)
        options.append(word.text)
        if word.text in ("-o", "+o", "-O", "--rcfile", "--init-file") and words:
            options.append(words.pop(0).text)
        elif re.fullmatch(r"-[a-zA-Z]+", word.text) and "c" in word.text:
            script = words.pop(0) if words else None
            break
    if script is not None:
        return _code(call, options, script.literal, script.text)
    if (
        not words
        or words[0].text in ("-", "/dev/stdin")
        or "-i" in options
        or any("s" in o for o in options if o[:2] != "--")
    ):
        return [high(_opened(call), "runs whatever it is given", contained=not _from_network(call))]
    target = words[0]
    if target.unknown or target.fed or target.text.startswith(("/dev/", "/proc/")):
        return [high("runs commands that cannot be read before")]
    return [medium("runs a script", f"runs {target.text[:60]}", contained=not call.place.outside(target))]


def _code(call: Call, options: list[str], literal: bool, text: str) -> list[Finding]:
    if not literal:
        return [high("builds a command while it runs, so it cannot be read before")]
    found = call.script(text)
    if call.name not in _POSIX:
        return at_least_medium(found, f"runs code in {call.name}")
    if any(not re.fullmatch(r"-[ceux]+", option) for option in options):
        return at_least_medium(found, "reads start-up files or changes how the shell works")
    return found


def _opened(call: Call) -> str:
    if call.fed_by == "pipe":
        return f"runs what {call.upstream[-1][:30] or 'another command'} prints as commands"
    return "runs commands from its input" if call.fed_by else "opens a shell"


def _from_network(call: Call) -> bool:
    return bool({"curl", "wget", "fetch", "nc", "ncat", "socat", "ssh"} & set(call.upstream))


def interpreter(call: Call) -> list[Finding]:
    """A program file or ``-c`` code is medium: it cannot be read here, the sandbox holds it. A prompt is high."""
    if len(call.args) == 1 and _asks_version(call.name, call.texts[0]):
        return []
    if not call.args or call.texts == ["-"]:
        if call.fed_by == "pipe" and not _from_network(call):
            return [medium("runs its input as code", f"runs code in {call.name}")]
        if call.fed_by in ("text", "file"):
            return [medium("runs code that cannot be read with certainty", f"runs code in {call.name}")]
        return [high("opens an interpreter", "runs whatever it is given", contained=not _from_network(call))]
    if call.name in _EDITORS:
        return [high("opens an editor, which can run and write anything")]
    if call.texts[0] == "-i":
        return [high("opens an interpreter")]
    if call.texts[0] == "-m" and len(call.args) > 1:
        return _module(call, call.texts[1])
    if _CODE.match(call.texts[0]):
        return [medium("runs code that cannot be read with certainty", f"runs code in {call.name}"), *_alarming(call)]
    script = next((word for word in call.args if not word.text.startswith("-")), None)
    if script is None:
        return [medium(f"runs {call.name} with options not known here")]
    outside = call.place.outside(script)
    return [medium("runs the project's own code", f"runs {script.text[:60]}", contained=not outside)]


def _module(call: Call, name: str) -> list[Finding]:
    if name in ("pip", "twine", "build", "pytest", "venv"):
        return (
            call.run(call.args[1:]) if name in ("pip", "twine", "pytest") else [medium("writes files", f"runs {name}")]
        )
    if name == "http.server":
        return [high("opens a server for files", "serves files", contained=False)]
    return [medium("runs a module", f"runs {name[:40]}")]


_ALARMING = re.compile(
    r"rmtree|os\.remove|unlink|os\.system|subprocess|child_process|shutil\.move|socket|urlopen|requests\.|https?://|fetch\("
    r"|execSync|spawn|popen|rm -|\.ssh|shadow|pty\.|chmod|setuid|/dev/sd|eval\(|exec\(|__import__"
)


def _alarming(call: Call) -> list[Finding]:
    """Code in the line that plainly deletes, starts programs or uses the network."""
    words = [word for word in call.args[1:] if _ALARMING.search(word.text)]
    found = re.search(_ALARMING, words[0].text) if words else None
    if found is None:
        return []
    return [high(f"code that may delete, start programs or use the network ({found[0]})", at=words[0])]


_EDITORS = frozenset("ed ex vi vim nvim emacs nano".split())


def _asks_version(name: str, option: str) -> bool:
    """``-v`` opens an interactive Python but prints the version of node and perl."""
    if option == "-v":
        return name in ("node", "nodejs", "perl", "php", "lua", "bun")
    return option == "--version" or (option == "-V" and name.startswith("python"))


def is_interpreter(name: str) -> bool:
    return _INTERPRETERS.fullmatch(name) is not None


JUDGES: dict[str, Judge] = dict.fromkeys(SHELLS, shell)
