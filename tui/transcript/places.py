"""Where in a transcript an event went, and where each kind of jump lands: numbers of blocks, a few bytes each."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from tui.transcript.kinds import Block, Jump, jumps_of


class Places:
    """Grows with the blocks; what was noted stays."""

    def __init__(self) -> None:
        self._seqs = array("q")
        self._seq_blocks = array("i")
        self._jumps: dict[Jump, array[int]] = {}

    def note(self, index: int, block: Block, seq: int) -> None:
        """Event ``seq`` (0: none that is stored) went into ``block``, which is number ``index``."""
        if seq > (self._seqs[-1] if self._seqs else 0):
            self._seqs.append(seq)
            self._seq_blocks.append(index)
        for kind in jumps_of(block):
            known = self._jumps.setdefault(kind, array("i"))
            if not known or known[-1] < index:
                known.append(index)
            elif known[bisect_right(known, index) - 1] != index:
                insort(known, index)

    def block_of(self, seq: int) -> int:
        """The block of the newest noted event up to ``seq``. -1 when there is none."""
        at = bisect_right(self._seqs, seq)
        return self._seq_blocks[at - 1] if at else -1

    def first_since(self, seq: int) -> int:
        """The block of the first noted event from ``seq`` on. -1 when there is none."""
        at = bisect_left(self._seqs, seq)
        return self._seq_blocks[at] if at < len(self._seqs) else -1

    def jumps(self, kind: Jump) -> Sequence[int]:
        """The blocks a jump of this kind lands on, in order."""
        return self._jumps.get(kind, ())
