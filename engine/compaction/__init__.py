"""Making room in the window, in layers: pure decisions and texts. The loop asks `plan`, stores what it did as a
Compacted event, and `engine.prompt.build` renders it with `pointer_text` and `summary_message_text`."""

from engine.compaction.layers import Layer, choose_layers
from engine.compaction.ledger import Ledger, extract
from engine.compaction.offload import RECENT_TURNS, Offload, choose, pointer_text
from engine.compaction.plan import (
    SummaryPlan,
    fixed,
    floor,
    is_due,
    keep_from,
    plan_summary,
    stuck,
    thresholds,
    worth_offloading,
)
from engine.compaction.summary import check, instruction, summary_message_text, summary_request

__all__ = [
    "RECENT_TURNS",
    "Layer",
    "Ledger",
    "Offload",
    "SummaryPlan",
    "check",
    "choose",
    "choose_layers",
    "extract",
    "fixed",
    "floor",
    "instruction",
    "is_due",
    "keep_from",
    "plan_summary",
    "pointer_text",
    "stuck",
    "summary_message_text",
    "summary_request",
    "thresholds",
    "worth_offloading",
]
