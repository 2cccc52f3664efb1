"""How the process keeps its memory: what start-up made, and what large frames need."""

import ctypes
import gc
from contextlib import suppress
from typing import Final

_GC_THRESHOLDS: Final = (10_000, 20, 50)
"""Streams make many short-lived objects and hardly a cycle; the default looks far more often."""

_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
"""As in glibc's `malloc.h`."""

_KEPT_BYTES: Final = 8 << 20
"""Free memory at the heap's end that stays: glibc would give it back after each large frame, and
take it again for the next one. A delta of 20 KB costs 0.64 of what it did, for 2.5 MB a process."""
_MAPPED_BYTES: Final = 1 << 20
"""What is larger gets a mapping of its own."""


def settle() -> None:
    """To be called once, when all is there that lives as long as the process."""
    gc.collect()
    gc.freeze()  # no need to look at it again
    gc.set_threshold(*_GC_THRESHOLDS)
    with suppress(AttributeError):  # another C library: it has its own ways
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
