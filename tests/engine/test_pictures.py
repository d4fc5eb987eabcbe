"""What a screen gets when it asks for a picture: through the sandbox of the session that read it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from engine import commands as cmd
from engine.engine import Engine
from engine.options import EngineOptions
from engine.queries import PictureShown, ShowPicture
from sandbox.backends import pick_backend


@pytest.fixture
async def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Engine]:
    if not pick_backend().capabilities().contained:
        pytest.skip("no sandbox works here")
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    script = tmp_path / "script.toml"
    script.write_text('[[turn]]\ntext = "Hello."\n')
    folder = tmp_path / "work"
    folder.mkdir()
    Image.new("RGB", (80, 40), (0, 0, 255)).save(folder / "plot.png")
    Image.new("RGB", (80, 40)).save(tmp_path / "outside.png")
    made = Engine(EngineOptions(cwd=folder, model=f"script/{script}", approve="sandboxed"), lambda event: None)
    yield made
    await made.close()


async def test_a_picture_of_an_open_session_fits_the_cells(engine: Engine) -> None:
    session = (await engine.open(cmd.OpenSession())).session.id
    shown: PictureShown = await engine.answer(ShowPicture(session, "plot.png", 20, 10))
    assert (shown.kind, shown.width, shown.height) == ("PNG", 20, 10)
    assert (shown.full_width, shown.full_height, shown.error) == (80, 40, "")
    assert shown.size > 0 and shown.pixels == b"\0\0\xff\xff" * 200


async def test_what_cannot_be_shown_is_an_answer_in_words(engine: Engine, tmp_path: Path) -> None:
    session = (await engine.open(cmd.OpenSession())).session.id
    outside = str(tmp_path / "outside.png")
    for path, says in ((outside, "does not exist"), ("../outside.png", "does not exist"), ("no.png", "does not exist")):
        shown = await engine.answer(ShowPicture(session, path, 20, 10))
        assert not shown.pixels and says in shown.error


async def test_a_session_that_is_not_open_has_no_sandbox_to_look_through(engine: Engine) -> None:
    shown = await engine.answer(ShowPicture("nobody", "plot.png", 20, 10))
    assert not shown.pixels and "not open" in shown.error
