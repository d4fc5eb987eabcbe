"""What a person said is kept for them alone, whole whatever happens to the file, and never what looks like a secret."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from engine import said
from engine.said import Recalled, Said

SHOP, OTHER = Path("/src/shop"), Path("/src/other")


def test_what_is_added_is_found_by_folder(tmp_path: Path) -> None:
    Said(tmp_path, SHOP).add("fix the login\nand say why")
    Said(tmp_path, OTHER).add("你好 \ud800")
    Said(tmp_path, SHOP).add("/model x")
    assert Said(tmp_path, SHOP).load() == Recalled(("fix the login\nand say why", "/model x"), ("你好 \ud800",))


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    kept = Said(tmp_path, SHOP)
    before = os.umask(0)
    try:
        (tmp_path / "said.jsonl").touch(0o666)
        kept.add("one")
        kept.keep_draft("two")
    finally:
        os.umask(before)
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {
        "said.jsonl": 0o600, "drafts.json": 0o600, "said.lock": 0o600,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["my key is sk-ant-api03-Zk3fQ9xW2bT7vLp8RmN4", "password: hunter2", "x" * (said.LONGEST + 1), " \n"],
    ids=["key", "password", "too long", "nothing"],
)
def test_what_must_not_stay_does_not(tmp_path: Path, text: str) -> None:
    kept = Said(tmp_path, SHOP)
    assert not kept.add(text)
    kept.keep_draft(text)
    assert kept.load() == Recalled()
    assert text.strip() == "" or all(text not in path.read_text() for path in tmp_path.iterdir())


def test_damage_costs_only_what_was_damaged(tmp_path: Path) -> None:
    kept = Said(tmp_path, SHOP)
    kept.add("one")
    with (tmp_path / "said.jsonl").open("ab") as file:
        file.write(b'\xff\xfe\x00\n{"folder": 3}\n[[[[\n{"text": "no folder"}\n\n{"folder": "/src/shop", "te')
    kept.add("two")
    assert kept.load().here == ("one", "two")
    (tmp_path / "drafts.json").write_text('{"/src/shop": 7, "x": ')
    assert kept.load().draft == ""
    kept.keep_draft("three")
    assert kept.load().draft == "three"


def test_the_oldest_goes_when_it_grows_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "LARGEST", 10_000)
    kept = Said(tmp_path, SHOP)
    for number in range(400):
        kept.add(f"message number {number} " + "x" * 40)
    assert (tmp_path / "said.jsonl").stat().st_size <= 10_200
    here = [text.split()[2] for text in kept.load().here]
    assert here == [str(number) for number in range(400 - len(here), 400)]
    assert len(here) > 30


def add_many(state: Path, name: str) -> None:
    kept = Said(state, SHOP)
    for number in range(100):
        kept.add(f"{name} {number} " + "y" * 300)


def test_two_apps_at_once_lose_nothing(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as apps:
        list(apps.map(add_many, [tmp_path] * 2, ["one", "two"]))
    lines = (tmp_path / "said.jsonl").read_text().splitlines()
    texts = [" ".join(json.loads(line)["text"].split()[:2]) for line in lines]
    assert sorted(texts) == sorted(f"{name} {number}" for name in ("one", "two") for number in range(100))
    assert [text for text in texts if text.startswith("one")] == [f"one {number}" for number in range(100)]


def test_an_app_that_hangs_does_not_make_others_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(said, "PATIENCE", 0.05)
    with (tmp_path / "said.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another app"):
            Said(tmp_path, SHOP).add("one")


def test_a_draft_stays_until_its_app_leaves_without_one(tmp_path: Path) -> None:
    kept, other = Said(tmp_path, SHOP), Said(tmp_path, SHOP)
    kept.keep_draft("half a sentence")
    other.keep_draft("")
    taken = kept.load().draft
    assert taken == "half a sentence"
    assert Said(tmp_path, OTHER).load().draft == ""
    kept.keep_draft("", taken)
    assert kept.load().draft == ""
    for number in range(30):
        Said(tmp_path, Path(f"/src/{number}")).keep_draft("x")
    assert len(json.loads((tmp_path / "drafts.json").read_text())) == said.MOST_DRAFTS
    assert Said(tmp_path, Path("/src/29")).load().draft == "x"


def load_elsewhere(state: Path) -> str:
    kept = Said(state, SHOP)
    draft = kept.load().draft
    kept.keep_typed("theirs", draft)
    return draft


def test_a_draft_somebody_is_at_work_on_is_for_no_other_app(tmp_path: Path) -> None:
    kept = Said(tmp_path, SHOP)
    assert kept.load().draft == ""
    kept.keep_typed("half", "")
    with ProcessPoolExecutor(1, get_context("spawn")) as app:
        assert app.submit(load_elsewhere, tmp_path).result() == ""
        assert kept.load().draft == "half"
        del kept
        assert app.submit(load_elsewhere, tmp_path).result() == "half"
    assert Said(tmp_path, SHOP).load().draft == "theirs"


def test_where_nothing_can_be_locked_nobody_is_in_the_way(tmp_path: Path) -> None:
    Said(tmp_path, SHOP).keep_draft("half")
    (tmp_path / "drafts.lock").mkdir()
    assert Said(tmp_path, SHOP).load().draft == "half"
