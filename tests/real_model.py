"""A real small model behind llama.cpp's own server, in a process of its own; skipped by name where it cannot be had."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.models.base import ModelError
from engine.models.install import install
from engine.paths import Home

SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.n_ctx, params.n_parallel, params.port = sys.argv[1], 8192, 1, 0
params.n_predict, params.verbosity, params.warmup, params.ui = int(sys.argv[2]), -1, False, False
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""


def real_weights(folder: Path) -> Path:
    """Weights that were named, or those the app itself installs into ``folder``; the test is skipped without any."""
    pytest.importorskip("xllamacpp", reason="llama.cpp is not installed: pip install '.[local]'")
    if named := os.environ.get("AGENT_TUI_TEST_GGUF", ""):
        return Path(named)
    try:
        return install(Home(folder / "data", folder / "config", folder / "cache"), "smollm2").path
    except ModelError as error:
        pytest.skip(f"no weights of smollm2: {error}")


@contextmanager
def llama_server(weights: Path, most: int) -> Iterator[str]:
    """The base URL of a server that gives answers of at most ``most`` tokens; it ends with its standard input."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(weights), str(most)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout
            line = next((line for line in process.stdout if line.startswith("listening ")), "")
            assert line, "llama.cpp did not start"
            yield line.split()[1] + "/v1"
        finally:
            process.kill()
