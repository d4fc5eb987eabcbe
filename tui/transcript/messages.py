"""What a transcript tells the screen it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from tui.transcript.kinds import CallKey, Tool

if TYPE_CHECKING:
    from tui.transcript.view import Transcript


class _FromTranscript(Message):
    """Base: ``control`` is the transcript it came from."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__()
        self.transcript = transcript

    @property
    def control(self) -> Transcript:
        return self.transcript


class Selected(_FromTranscript, namespace="transcript"):
    """A person selected the block that event ``seq`` began; 0: one that is not stored yet."""

    def __init__(self, transcript: Transcript, seq: int) -> None:
        super().__init__(transcript)
        self.seq = seq


class WantsArtifact(_FromTranscript, namespace="transcript"):
    """A person unfolded a call whose whole output is an artifact: answer with ``show_artifact(call, text)``."""

    def __init__(self, transcript: Transcript, digest: str, call: CallKey) -> None:
        super().__init__(transcript)
        self.digest = digest
        self.call = call


class WantsPicture(_FromTranscript, namespace="transcript"):
    """A person unfolded a call that read a picture: answer with ``show_artifact(call, picture)``, which fits into so
    many cells."""

    def __init__(self, transcript: Transcript, path: str, columns: int, rows: int, call: CallKey) -> None:
        super().__init__(transcript)
        self.path, self.columns, self.rows = path, columns, rows
        self.call = call


def wanted(transcript: Transcript, index: int) -> WantsArtifact | WantsPicture | None:
    """What an unfolded block lacks, to be told once."""
    reader = transcript.reader
    block = reader.blocks[index]
    if not isinstance(block, Tool):
        return None
    if digest := reader.wants(index):
        return WantsArtifact(transcript, digest, block.key)
    if picture := reader.ask_picture(index):
        return WantsPicture(transcript, *picture, block.key)
    return None


class Found(_FromTranscript, namespace="transcript"):
    """How far a search is: ``matches`` so far, ``complete`` when there are no more."""

    def __init__(self, transcript: Transcript, text: str, matches: int, complete: bool) -> None:
        super().__init__(transcript)
        self.text = text
        self.matches = matches
        self.complete = complete
