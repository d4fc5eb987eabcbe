from __future__ import annotations

import errno
import hashlib
from pathlib import Path

import pytest

from engine.log import ArtifactDamaged, Artifacts
from engine.queries import ArtifactPage


@pytest.fixture
def artifacts(tmp_path: Path) -> Artifacts:
    return Artifacts(tmp_path / "artifacts")


def files(artifacts: Artifacts) -> list[Path]:
    return [path for path in artifacts.root.rglob("*") if path.is_file()]


def test_the_same_bytes_are_stored_once(artifacts: Artifacts) -> None:
    digest = artifacts.put(b"hello")
    assert digest == hashlib.sha256(b"hello").hexdigest()
    assert artifacts.put(b"hello") == digest
    assert len(files(artifacts)) == 1
    assert artifacts.get(digest) == b"hello"


def test_storing_again_heals_what_was_torn(artifacts: Artifacts) -> None:
    digest = artifacts.put(b"hello")
    files(artifacts)[0].write_bytes(b"hel")
    assert not artifacts.is_whole(digest)
    with pytest.raises(ArtifactDamaged, match="does not hold what was stored") as caught:
        artifacts.get(digest)
    assert caught.value.suggestion
    artifacts.put(b"hello")
    assert artifacts.get(digest) == b"hello"


def test_a_write_that_fails_leaves_no_file(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        artifacts.put(b"hello")
    assert files(artifacts) == []


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "0" * 63, "Z" * 64, "0" * 64 + "\n"])
def test_only_names_of_artifacts_are_read(artifacts: Artifacts, name: str) -> None:
    with pytest.raises(ArtifactDamaged, match="not the name"):
        artifacts.get(name)
    assert "not the name" in artifacts.page(name).error
    assert not artifacts.is_whole(name)


def test_pages_are_lines(artifacts: Artifacts) -> None:
    digest = artifacts.put("".join(f"line {n}\n" for n in range(10)).encode() + b"\xff no newline")
    assert artifacts.page(digest, 0, 2) == ArtifactPage("line 0\nline 1\n", 11)
    assert artifacts.page(digest, 10, 5) == ArtifactPage("� no newline", 11)
    assert artifacts.page(digest, 99, 5) == ArtifactPage("", 11)
    assert artifacts.page(artifacts.put(b""), 0, 5) == ArtifactPage("", 0)


def test_a_damaged_page_says_so_and_a_missing_one_too(artifacts: Artifacts) -> None:
    digest = artifacts.put(b"one\ntwo\n")
    files(artifacts)[0].write_bytes(b"one\n")
    page = artifacts.page(digest)
    assert page.text == "one\n"
    assert "does not hold" in page.error
    assert "is missing" in artifacts.page("0" * 64).error
