"""Making room in the window, in layers: pure decisions and texts. The loop asks `plan`, stores what it did as a
Compacted event, and `engine.prompt.build` renders it with `pointer_text` and `summary_message_text`."""

from engine.compaction.ledger import Ledger, extract
from engine.compaction.offload import RECENT_TURNS, Offload, choose, pointer_text
from engine.compaction.plan import SummaryPlan, floor, keep_from, needs, plan_summary, stuck, thresholds
from engine.compaction.summary import check, instruction, summary_message_text, summary_request

__all__ = [
    "RECENT_TURNS",
    "Ledger",
    "Offload",
    "SummaryPlan",
    "check",
    "choose",
    "extract",
    "floor",
    "instruction",
    "keep_from",
    "needs",
    "plan_summary",
    "pointer_text",
    "stuck",
    "summary_message_text",
    "summary_request",
    "thresholds",
]
