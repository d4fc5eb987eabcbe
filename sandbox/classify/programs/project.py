"""Builds, tests and checks: they run the project's own code, which cannot be read here but is held by the sandbox."""

from __future__ import annotations

from sandbox.classify.call import Call, Judge
from sandbox.classify.findings import Finding, high, medium
from sandbox.classify.hidden import hidden

_TESTS = (
    "pytest py.test tox nox unittest jest vitest mocha ava rspec phpunit ctest playwright cypress bats go-test "
    "nosetests"
).split()
_BUILDS = (
    "make gmake cmake ninja meson bazel buck gradle gradlew mvn ant sbt tsc webpack vite rollup esbuild parcel gulp "
    "grunt just task rake scons waf msbuild xcodebuild gcc g++ cc c++ clang clang++ rustc javac ld as nvcc protoc"
).split()
_CHECKS = (
    "ruff mypy black isort flake8 pylint eslint prettier biome clippy pyright bandit shellcheck hadolint golangci- lint"
).split()
_VERSIONS = ("--version", "-V", "-version")


def _asks_version(call: Call) -> bool:
    return len(call.args) == 1 and call.texts[0] in _VERSIONS


def tests(call: Call) -> list[Finding]:
    return [] if _asks_version(call) else [medium("runs the project's own code", "runs the project's tests")]


def builds(call: Call) -> list[Finding]:
    if _asks_version(call):
        return []
    targets = {word.text for word in call.args}
    if targets & {"publish", "deploy", "release", "upload", "push"}:
        return [high("may publish or deploy", f"runs {call.name} {' '.join(call.texts)}"[:60], contained=False)]
    return [medium("runs the project's own code", "runs the project's build steps"), *hidden(call.args)]


def checks(call: Call) -> list[Finding]:
    return (
        [] if _asks_version(call) else [medium("runs a checker, which may rewrite files", "checks the project's code")]
    )


def versions(call: Call) -> list[Finding]:
    """Other tools of which only the question for a version is known."""
    return [] if _asks_version(call) else [medium(f"what {call.name} does is not known here", f"runs {call.name}")]


JUDGES: dict[str, Judge] = {
    **dict.fromkeys(_TESTS, tests),
    **dict.fromkeys(_BUILDS, builds),
    **dict.fromkeys(_CHECKS, checks),
    **dict.fromkeys(
        "java kotlin ffmpeg convert magick pandoc gpgv cloc scc bat hyperfine nvm asdf code".split(), versions
    ),
}
