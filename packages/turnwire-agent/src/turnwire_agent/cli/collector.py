"""Tunes the garbage collector for many turns: while it looks, no turn moves."""

import gc
from typing import Final

_THRESHOLDS: Final = (10_000, 20, 20)
"""Deltas make many short-lived objects and few cycles. With the default, 200 turns that stream are
looked through every few seconds, 50 ms each time."""


def tune_collector() -> None:
    """Call once, after the objects exist that live as long as the process."""
    gc.collect()
    gc.freeze()  # the collector skips what exists now
    gc.set_threshold(*_THRESHOLDS)
