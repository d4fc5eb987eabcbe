"""Numbers as people read them."""

from __future__ import annotations

import pytest

from tui import format


@pytest.mark.parametrize(
    ("n", "shown"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (96_412, "96.4k"), (999_999, "1.0M"), (12_345_678, "12.3M")],
)
def test_counts_stay_short(n: int, shown: str) -> None:
    assert format.count(n) == shown


@pytest.mark.parametrize(
    ("usd", "unpriced", "shown"), [(0.21, 0, "$0.21"), (0.0004, 0, "$0.0004"), (0.0, 1, "?"), (0.21, 1, "$0.21 + ?")]
)
def test_a_cost_that_is_not_known_is_never_called_zero(usd: float, unpriced: int, shown: str) -> None:
    assert format.cost(usd, unpriced) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-1, "0.0 ms"), (0.0004, "0.4 ms"), (0.085, "85 ms"), (3.14, "3.1 s"), (292, "4:52"), (3723, "1:02:03")],
)
def test_times_are_never_negative(seconds: float, shown: str) -> None:
    assert format.duration(seconds) == shown
