"""The proof in a process of its own, for an app that goes on meanwhile."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sandbox.proof.apart import proved_apart
from sandbox.proof.lines import LINES, State
from sandbox.proof.tries import ProofError


def test_all_lines_are_tried_and_nothing_of_this_process_or_folder_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox" / "__init__.py").write_text("raise SystemExit('a file of the folder was imported')")
    monkeypatch.chdir(tmp_path)
    before = dict(os.environ)
    found = proved_apart("bare")
    assert [line for line, _ in found] == list(LINES)
    states = {state for _, state in found}
    assert states <= {state.value for state in State} and states != {"enforced"}, "bare holds nothing"
    assert dict(os.environ) == before
    assert [path.name for path in tmp_path.iterdir()] == ["sandbox"]


def test_what_cannot_be_tried_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ProofError, match="/nowhere/python"):
        proved_apart("bare")
