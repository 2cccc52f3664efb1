"""File descriptors: a stream takes two, and the system says how many there are."""

import resource
from typing import Final

import structlog

from turnwire.settings import Settings

_log = structlog.get_logger("turnwire")

OF_A_STREAM: Final = 2
OUR_OWN: Final = 128
"""Listeners, the loop's own, idle connections of clients, the control plane: in round numbers."""


def prepare(settings: Settings) -> None:
    """Take as many as all streams need, as far as this process may; say so where it may not.

    Without a limit of streams there is nothing to hold them against.
    """
    if not settings.max_streams:
        return
    needed = settings.max_streams * OF_A_STREAM + OUR_OWN
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _covers(soft, needed):
        return
    had = needed if _covers(hard, needed) else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (had, hard))
    except (OSError, OverflowError, ValueError):  # without a hard limit the system still has one
        had = soft
    if had < needed:
        _log.warning(
            "too few file descriptors for TURNWIRE_MAX_STREAMS",
            limit=had,
            needed=needed,
            streams_possible=max(0, had - OUR_OWN) // OF_A_STREAM,
        )


def _covers(limit: int, needed: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= needed
