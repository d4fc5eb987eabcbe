"""The first time, a person is told what there is and what to do; afterwards the screen stays away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.options import EngineOptions
from engine.queries import FoundModel, ProveSandbox, SandboxProof, Survey, SurveyResult, TrustFolder
from tests.tui.bench import Bench, workbench
from tests.tui.fake_engine import SURVEY, FakeHandle
from tui.screens.first_run import FirstRunScreen
from tui.screens.trust import TrustScreen


def engine(tmp_path: Path, found: SurveyResult | Exception = SURVEY) -> FakeHandle:
    handle = FakeHandle(EngineOptions(cwd=tmp_path))
    handle.answers[Survey] = found
    return handle


async def shown(bench: Bench) -> None:
    await bench.until(lambda: isinstance(bench.app.screen, FirstRunScreen), "the first-run screen")


async def test_it_comes_when_there_is_neither_a_setting_nor_a_session(tmp_path: Path) -> None:
    async with workbench(tmp_path, first_run=True, size=(80, 24)) as bench:
        await shown(bench)
        await bench.until(lambda: "will use anthropic/claude-x" in bench.screen_text(), "the survey")
        text = " ".join(bench.screen_text().split())
        for words in (
            "ollama",
            "ANTHROPIC_API_KEY",
            "bwrap",
            "Enter start",
            "try it now with no model",
        ):
            assert words in text
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "the workbench")
        await bench.until((tmp_path / "config" / "config.toml").exists, "the choice is kept")
    async with workbench(tmp_path, first_run=True) as bench:
        await bench.pilot.pause()
        assert bench.app.screen is bench.app.bench


async def test_all_of_it_is_seen_at_once_in_a_small_terminal_and_nothing_found_goes_unsaid(tmp_path: Path) -> None:
    kinds = ("anthropic/claude-sonnet-5-5", "openai/gpt", "ollama/MODEL", "lmstudio/MODEL", "vllm/MODEL", "local/small")
    models = tuple(FoundModel(spec, "key", False, "nothing answers there", f"start {spec}") for spec in kinds)
    scripted = FoundModel("script/offline", "built in", True)
    why = "no key in the environment and no model server on this machine"
    found = SurveyResult((scripted, *models), "script/offline", why, "bwrap", True)
    async with workbench(tmp_path, first_run=True, size=(80, 24), engine=engine(tmp_path, found)) as bench:
        await shown(bench)
        await bench.until(lambda: "will use script/offline" in bench.screen_text(), "the survey")
        text = bench.screen_text()
        assert "1 more: agent-tui models lists them" in text and "waits for you" in text and "…" not in text
        await bench.pilot.resize_terminal(120, 40)
        await bench.until(lambda: "nothing answers there. start ollama/MODEL" in bench.screen_text(), "what to do")


async def test_it_does_not_stand_before_a_task(tmp_path: Path) -> None:
    async with workbench(tmp_path, first_run=True, task="do it") as bench:
        await bench.pilot.pause()
        assert bench.app.screen is bench.app.bench


async def test_colours_change_at_once_and_going_back_restores_them(tmp_path: Path) -> None:
    async with workbench(tmp_path, first_run=True) as bench:
        await shown(bench)
        before = bench.app.theme
        await bench.pilot.press("right")
        assert bench.app.theme != before
        await bench.until(lambda: bench.app.theme in bench.screen_text(), "its name")
        await bench.pilot.press("left")
        assert bench.app.theme == before
        await bench.pilot.press("right", "escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "the workbench")
        assert bench.app.theme == before


async def test_the_demo_is_what_the_app_leaves_for(tmp_path: Path) -> None:
    async with workbench(tmp_path, first_run=True) as bench:
        await shown(bench)
        await bench.pilot.press("d")
        await bench.until(lambda: bench.app.return_value == "demo", "the demo")
        assert bench.engine.closed == 1


async def test_no_sandbox_is_said_here_and_above_the_composer(tmp_path: Path) -> None:
    found = replace(SURVEY, sandbox_works=False, sandbox_why="no user namespaces", sandbox_hint="sysctl [x]=1")
    async with workbench(tmp_path, first_run=True, engine=engine(tmp_path, found)) as bench:
        await shown(bench)
        await bench.until(lambda: "not here: no user namespaces" in bench.screen_text(), "the sandbox")
        assert "sysctl [x]=1" in bench.screen_text()
        await bench.pilot.press("enter")
        await bench.until(lambda: "No sandbox here (no user namespaces)" in bench.screen_text(), "the banner")


async def test_a_survey_that_fails_does_not_keep_anyone_from_starting(tmp_path: Path) -> None:
    async with workbench(tmp_path, first_run=True, engine=engine(tmp_path, OSError("no [/] luck"))) as bench:
        await shown(bench)
        await bench.until(lambda: "could not look: no [/] luck" in bench.screen_text(), "the trouble")
        await bench.pilot.press("enter")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "the workbench")


async def test_outside_text_is_shown_as_it_is(tmp_path: Path) -> None:
    nasty = "[/] [bold] \x1b[2J 你好"
    models = (FoundModel(nasty, nasty, False, nasty, nasty),)
    found = SurveyResult(models, nasty, nasty, nasty, True)
    async with workbench(tmp_path, first_run=True, engine=engine(tmp_path, found)) as bench:
        await shown(bench)
        await bench.until(lambda: "[/] [bold]" in bench.screen_text(), "the text")
        assert "\x1b" not in bench.screen_text()


async def test_a_folder_with_files_of_its_own_is_asked_about_once(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "project"
    folder.mkdir()
    (folder / ".mcp.json").write_text("{}")
    handle = FakeHandle(EngineOptions(cwd=folder))
    async with workbench(home, options=EngineOptions(cwd=folder), engine=handle) as bench:
        await bench.until(lambda: isinstance(bench.app.screen, TrustScreen), "the question")
        await bench.until(lambda: ".mcp.json" in bench.screen_text(), "the file")
        await bench.pilot.press("n")
        await bench.until(lambda: TrustFolder(False) in handle.asked, "the answer")
        assert bench.app.screen is bench.app.bench


async def test_putting_the_question_off_answers_nothing(tmp_path: Path) -> None:
    async with workbench(tmp_path) as bench:
        bench.app.run_slash("trust", "")
        await bench.until(lambda: isinstance(bench.app.screen, TrustScreen), "the question")
        await bench.pilot.press("escape")
        await bench.until(lambda: bench.app.screen is bench.app.bench, "the workbench")
        assert not [query for query in bench.engine.asked if isinstance(query, TrustFolder)]


async def test_the_twelve_lines_of_defence_are_tried_when_asked_for_and_told_one_by_one(tmp_path: Path) -> None:
    names = ("files", "environment", "tools", "person", "privileges", "devices", "system calls", "processes",
             "resources", "network", "ipc and signals", "record")  # fmt: skip
    states = {"resources": "partly", "network": "not enforced"}
    handle = engine(tmp_path)
    handle.answers[ProveSandbox] = SandboxProof(tuple((name, states.get(name, "enforced")) for name in names))
    async with workbench(tmp_path, first_run=True, size=(80, 24), engine=handle) as bench:
        await shown(bench)
        await bench.until(lambda: "p tries it" in bench.screen_text(), "the offer")
        assert not [asked for asked in handle.asked if isinstance(asked, ProveSandbox)], "not before a person asks"
        await bench.pilot.press("p")
        await bench.until(lambda: "10 of 12 lines of defence hold" in bench.screen_text(), "the lines")
        text = " ".join(bench.screen_text().split())
        for said in ("✓ system calls", "! resources (partly)", "✗ network (not enforced)", "✓ record"):
            assert said in text
        assert "agent-tui doctor says more" in text
        assert not [line for line in bench.screen_text().splitlines() if line.rstrip().endswith(("✓", "!", "✗"))]


async def test_a_proof_that_cannot_be_had_is_told_and_may_be_asked_for_again(tmp_path: Path) -> None:
    handle = engine(tmp_path)
    handle.answers[ProveSandbox] = OSError("no room [/b]")
    async with workbench(tmp_path, first_run=True, size=(80, 24), engine=handle) as bench:
        await shown(bench)
        await bench.pilot.press("p")
        await bench.until(lambda: "nothing could be tried: no room [/b]" in bench.screen_text(), "why")
        handle.answers[ProveSandbox] = SandboxProof((("files", "enforced"),))
        await bench.pilot.press("p")
        await bench.until(lambda: "1 of 1 lines of defence hold" in bench.screen_text(), "the lines")
