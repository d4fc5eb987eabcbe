"""Questions the screens ask the engine and the shapes of the answers: read-only, answered on the worker thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engine.events import Event
    from engine.settings_keys import Value


@dataclass(frozen=True, slots=True)
class ListSessions:
    """Newest first. ``text`` searches titles and everything said; ``folder`` narrows to one. Answer: SessionRows."""

    text: str = ""
    folder: str = ""
    limit: int = 500


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One line of the session list. cost in USD. state: running, finished, limit, interrupted, denied, failed,
    no_model, open. ``open_elsewhere``: another process holds the lease. ``skipped``: damaged rows."""

    id: str
    title: str
    folder: str
    model: str
    started: datetime
    updated: datetime
    turns: int = 0
    calls: int = 0
    approvals: int = 0
    events: int = 0
    cost: float = 0.0
    state: str = "open"
    open_elsewhere: bool = False
    skipped: int = 0
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A stored row that could not be read: where and why."""

    seq: int
    reason: str


@dataclass(frozen=True, slots=True)
class LoadSession:
    """Answer: LoadedSession."""

    id: str


@dataclass(frozen=True, slots=True)
class LoadFile:
    """A session as `sessions export` writes it, read without taking it over. Answer: LoadedSession."""

    path: str


@dataclass(frozen=True, slots=True)
class LoadedSession:
    """Every readable event of a session, in order, and what was skipped."""

    id: str
    events: tuple[Event, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadArtifact:
    """Lines ``offset`` .. ``offset + limit`` of a stored output. Answer: ArtifactPage."""

    digest: str
    offset: int = 0
    limit: int = 2000


@dataclass(frozen=True, slots=True)
class ArtifactPage:
    """``error`` is set when the artifact is missing or torn."""

    text: str
    lines: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class ShowPicture:
    """The picture in a file as a session's sandbox sees it, scaled to fit so many cells of a terminal. Answer:
    PictureShown."""

    session: str
    path: str
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class PictureShown:
    """``pixels``: RGBA, four bytes each, row by row, of ``width`` × ``height``; full_width, full_height: of the file's
    own. size in bytes of the file. ``error``: why there are none."""

    kind: str = ""
    width: int = 0
    height: int = 0
    full_width: int = 0
    full_height: int = 0
    size: int = 0
    pixels: bytes = b""
    error: str = ""


@dataclass(frozen=True, slots=True)
class CompleteFiles:
    """Paths in the workspace that match what was typed after ``@``, best first. Answer: tuple[str, ...]."""

    text: str
    limit: int = 20


@dataclass(frozen=True, slots=True)
class Survey:
    """What can be used on this machine, for the first-run screen and ``models``. Answer: SurveyResult."""


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model or a server. ``usable`` False: ``why`` says what is missing and ``hint`` what to do."""

    spec: str
    source: str
    usable: bool
    why: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class SurveyResult:
    """``chosen``: the spec a session would use now and ``why`` in words; sandbox facts from the backend."""

    models: tuple[FoundModel, ...]
    chosen: str
    why: str
    sandbox: str
    sandbox_works: bool
    sandbox_why: str = ""
    sandbox_hint: str = ""


@dataclass(frozen=True, slots=True)
class ProveSandbox:
    """How each line of defence stands here, by attacks tried now, in the sandbox and bare: seconds. Answer:
    SandboxProof."""


@dataclass(frozen=True, slots=True)
class SandboxProof:
    """``lines``: (name, state) of all twelve, the state being enforced, partly or not enforced."""

    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TryRule:
    """What a rule text would have allowed among the commands of recent sessions. Answer: RuleTrial."""

    session: str
    rule: str


@dataclass(frozen=True, slots=True)
class RuleTrial:
    """``error`` is set when the rule cannot be read; ``matched`` holds recent command lines it would have allowed."""

    matched: tuple[str, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class TrustFolder:
    """A person's word on whether project files of this folder that can execute something may be used."""

    trusted: bool


@dataclass(frozen=True, slots=True)
class InspectRequests:
    """Every request a session sent, from its log. ``session``: an id, or the path of an exported file. Answer:
    tuple[RequestLine, ...]."""

    session: str


@dataclass(frozen=True, slots=True)
class RequestLine:
    """One request in short. Tokens are the provider's, ``input`` 0 when it reported none; cost in USD, None when
    unknown. ``broken``: it could not use all of what was cached, ``cause`` says why."""

    turn: int
    input: int
    read: int
    cost: float | None
    broken: bool
    cause: str


@dataclass(frozen=True, slots=True)
class InspectRequest:
    """One request as it was sent, block by block. ``turn``: the newest up to that turn, or, 0, the newest there is.
    Answer: InspectedRequest, or None for a session that has sent none."""

    session: str
    turn: int = 0


@dataclass(frozen=True, slots=True)
class InspectedBlock:
    """``layer``: A to D. ``text``: what the model reads of it. ``state``: read (from the cache), new, or broken (was
    sent before and has to be paid again). ``cost`` in USD, None when the price is unknown."""

    layer: str
    kind: str
    title: str
    text: str
    tokens: int
    cost: float | None
    state: Literal["read", "new", "broken"]


@dataclass(frozen=True, slots=True)
class Split:
    """Prompt tokens read from the cache, written to it, and neither."""

    read: int
    write: int
    new: int


@dataclass(frozen=True, slots=True)
class InspectedRequest:
    """Request ``number`` of ``count``. ``reported`` is None when the answer never came; tokens are scaled to it.

    ``same``: blocks at the start that are as in the request of turn ``against`` (0: there was none), ``cause`` why no
    more are; ``byte``: where the first differing block differs and ``before`` its text in that request. ``why``: what
    else keeps the cache from being used. ``exact`` False: this version of the app builds the request otherwise than
    the one that sent it. ``rules``: those of the provider, in words."""

    number: int
    count: int
    turn: int
    model: str
    tokens: int
    cost: float | None
    blocks: tuple[InspectedBlock, ...]
    predicted: Split
    reported: Split | None
    as_predicted: bool
    against: int
    same: int
    cause: str
    broken: bool
    byte: int
    before: str
    why: str
    exact: bool | None
    rules: str


@dataclass(frozen=True, slots=True)
class ListMemories:
    """What is remembered of this folder and of its person. Answer: Memories."""

    folder: str


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One line of a MEMORY.md."""

    scope: Literal["project", "user"]
    text: str


@dataclass(frozen=True, slots=True)
class Memories:
    """Those of the project, then those of the person; ``paths``: scope to the file they stand in."""

    lines: tuple[MemoryLine, ...]
    paths: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class InspectCompactions:
    """Every compaction of a session (an id, or the path of an exported file), oldest first. Answer:
    tuple[CompactionLine, ...]."""

    session: str


@dataclass(frozen=True, slots=True)
class CompactionLine:
    """One compaction in short. ``undone``: a person took it back. cost in USD, None when unknown or none was paid."""

    number: int
    kind: Literal["offload", "drop", "digest", "summary", "handoff"]
    reason: str
    turn: int
    before: int
    after: int
    cost: float | None
    undone: bool


@dataclass(frozen=True, slots=True)
class InspectCompaction:
    """Answer: InspectedCompaction, or None when there is no such number."""

    session: str
    number: int


@dataclass(frozen=True, slots=True)
class FactFate:
    """What became of one exact fact. fate: ledger (kept word for word), recent (its event is still in the request),
    pointer, shortened, or left_out (stands in the artifact). ``group``: the ledger's heading."""

    group: str
    text: str
    fate: Literal["ledger", "recent", "pointer", "shortened", "left_out"]


@dataclass(frozen=True, slots=True)
class InspectedCompaction:
    """One compaction with the request before and after it. ``undoable``: it is the newest in force. ``checks``: each
    question the design asks of a compaction, and whether it passed."""

    line: CompactionLine
    before: tuple[InspectedBlock, ...]
    after: tuple[InspectedBlock, ...]
    facts: tuple[FactFate, ...]
    checks: tuple[tuple[str, bool], ...]
    summary: str
    ledger: str
    artifact: str
    undoable: bool


@dataclass(frozen=True, slots=True)
class Simulate:
    """What a session would have cost elsewhere, from its log alone. ``models``: specs to compare, empty for the usual
    ones. Answer: tuple[SimulatedCost, ...], the session's own model first."""

    session: str
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SimulatedCost:
    """USD with the provider's cache and without any, None when the price is unknown; tokens read, written and new with
    the cache, and of the answers. ``hit``: read over all prompt tokens. ``real``: what the log says was paid, for the
    session's own model."""

    model: str
    cached: float | None
    uncached: float | None
    read: int
    write: int
    new: int
    output: int
    hit: float
    real: float | None = None
    rules: str = ""


@dataclass(frozen=True, slots=True)
class RewindPoints:
    """Where a person can go back to in a session. Answer: RewindChoices."""

    session: str


@dataclass(frozen=True, slots=True)
class RewindPoint:
    """Before event ``seq``: ``who`` is you or a turn, ``text`` its first words. ``files``: whether something may have
    changed files since."""

    seq: int
    who: str
    text: str
    at: datetime
    files: bool


@dataclass(frozen=True, slots=True)
class RewindChoices:
    """Newest first. ``undoable``: the seq of the going back that can be taken back now, 0 for none."""

    points: tuple[RewindPoint, ...]
    undoable: int = 0


@dataclass(frozen=True, slots=True)
class RewindPreview:
    """What putting the files back to before event ``seq`` would change. Answer: RewindFiles."""

    session: str
    seq: int


@dataclass(frozen=True, slots=True)
class RewindFiles:
    """(path, what happened to it since: created, changed, deleted). ``error``: why that cannot be told."""

    changes: tuple[tuple[str, str], ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class ShowSettings:
    """Every setting as it holds in ``folder``, read anew. Answer: `engine.settings_shown.SettingsShown`."""

    folder: str


@dataclass(frozen=True, slots=True)
class WriteSetting:
    """Set a setting in the person's own file, or, None, take it back to its default. Answer: nothing; fails with a
    SettingError in words."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """Make the person's own settings file, with examples in it, unless it is there. Answer: its path, or OSError."""


Query = (
    ListSessions
    | LoadSession
    | LoadFile
    | ReadArtifact
    | ShowPicture
    | CompleteFiles
    | Survey
    | ProveSandbox
    | TryRule
    | TrustFolder
    | InspectRequests
    | InspectRequest
    | ListMemories
    | InspectCompactions
    | InspectCompaction
    | Simulate
    | RewindPoints
    | RewindPreview
    | ShowSettings
    | WriteSetting
    | SettingsFile
)
