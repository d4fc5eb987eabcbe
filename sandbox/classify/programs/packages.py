"""Package managers: installing needs the network and runs strangers' scripts; publishing cannot be taken back."""

from __future__ import annotations

from sandbox.classify.call import Call, Judge
from sandbox.classify.findings import Finding, at_least_medium, high, medium
from sandbox.classify.options import grammar, parse
from sandbox.classify.words import Word

_PUBLISHES = frozenset(
    "publish unpublish deprecate owner dist-tag yank upload push login logout adduser token access trust".split()
)
_INSTALLS = frozenset(
    "install i add ci update upgrade up sync fetch download get clean-install link exec dlx create init-template "
    "outdated audit search view info lock restore".split()
)
_RUNS_CODE = frozenset(
    "run test t start stop restart build check clippy bench run-script doc fmt vet generate package".split()
)
_INNER = {
    "uv": ("run",),
    "poetry": ("run",),
    "pipenv": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "bundle": ("exec",),
}
_INNER |= {"pnpm": ("exec",), "yarn": ("exec",), "npm": ("exec",), "rye": ("run",), "mise": ("exec",), "pixi": ("run",)}
_REMOVES = frozenset("uninstall remove rm purge autoremove".split())
_VERSIONS = ("--version", "-V", "version")


def manager(call: Call) -> list[Finding]:
    """A language's package manager, by its verb."""
    if len(call.args) == 1 and (
        call.texts[0] in _VERSIONS or (call.texts[0] == "-v" and call.name in ("npm", "pnpm", "yarn"))
    ):
        return []
    verbs = [word for word in call.args if not word.text.startswith("-") and not word.text.startswith("+")]
    verb = verbs[0].text if verbs else ""
    inner = _inner(call, verb)
    if inner:
        return at_least_medium(call.run(inner), "runs a program of the project")
    if verb in _PUBLISHES and not (verb == "access" and call.name == "go"):
        return [
            high("publishes or changes an account, which cannot be taken back", f"{call.name} {verb}", contained=False)
        ]
    if verb in _RUNS_CODE:
        return [medium("runs the project's own code", _described(call.name, verb, verbs[1:]))]
    if verb in _REMOVES:
        return [medium("removes packages", f"{call.name} {verb}")]
    if verb in _INSTALLS or (call.name in ("npx", "pnpx", "bunx", "uvx", "pipx") and verb) or not verb:
        effect = "downloads packages and may run their install scripts"
        return [medium("needs the network", effect, contained=False)]
    return [medium("runs the project's own code", f"{call.name} {verb[:40]}")]


def _inner(call: Call, verb: str) -> list[Word]:
    """The words after ``run`` or ``exec``, where those name a program."""
    if verb not in _INNER.get(call.name, ()):
        return []
    words = list(call.args[call.texts.index(verb) + 1 :])
    while words and words[0].text.startswith("-"):
        words.pop(0)
    return words


def _described(name: str, verb: str, rest: list[Word]) -> str:
    if verb in ("test", "t", "check"):
        return "runs the project's tests" if verb != "check" else "checks the project's code"
    if verb in ("run", "run-script") and rest:
        return f"runs the project's “{rest[0].text[:40]}”"
    return "builds the project" if verb in ("build", "package") else f"runs {name} {verb}"


def pip(call: Call) -> list[Finding]:
    """``pip list`` and its kin only read."""
    known = "-v -l --verbose --local --user --not-required --editable -e --format= --files -f --all --exclude="
    if call.args and call.texts[0] in ("list", "show", "freeze", "check") and call.args[0].literal:
        return [] if parse(call.args[1:], grammar(known)) is not None else [medium("an option of pip that may write")]
    return manager(call)


def system_manager(call: Call) -> list[Finding]:
    """apt, dnf, brew and others change the machine, not the project."""
    return [
        high(
            "changes the software of this machine", f"runs {call.name} {' '.join(call.texts[:2])}"[:60], contained=False
        )
    ]


def publisher(call: Call) -> list[Finding]:
    return [high("publishes, which cannot be taken back", f"runs {call.name}", contained=False)]


JUDGES: dict[str, Judge] = {
    **dict.fromkeys(
        "npm pnpm yarn npx pnpx bunx uv uvx pipx poetry pipenv pdm hatch rye pixi conda mamba cargo go gem bundle "
        "composer dotnet nuget mix hex cabal stack opam luarocks cpan cpanm flutter dart swift pub mise rustup".split(),
        manager,
    ),
    **dict.fromkeys(("pip", "pip3"), pip),
    **dict.fromkeys(
        "apt apt-get aptitude dpkg rpm dnf yum zypper pacman apk brew port snap flatpak nix nix-env emerge "
        "xbps-install winget choco scoop update-alternatives".split(),
        system_manager,
    ),
    **dict.fromkeys("twine vsce ovsx np semantic-release lerna goreleaser".split(), publisher),
}
