"""Raise the limit of file descriptors (`RLIMIT_NOFILE`) to what the settings need."""

import resource
from typing import Final

import structlog

from turnwire.config.settings import Settings

_log = structlog.get_logger("turnwire")

PER_STREAM: Final = 2
"""The client's socket and the agent's."""
RESERVED: Final = 128
"""For listeners, the event loop, idle connections of clients and the control plane: an estimate."""


def prepare(settings: Settings) -> None:
    """Raise the soft limit to what `TURNWIRE_MAX_STREAMS` streams need.

    If the hard limit is lower, raise it to the hard limit, and log a warning. Without
    `TURNWIRE_MAX_STREAMS` the need is unknown, and nothing is done.
    """
    if not settings.max_streams:
        return
    needed = settings.max_streams * PER_STREAM + RESERVED
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _covers(soft, needed):
        return
    limit = needed if _covers(hard, needed) else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    except (
        OSError,
        OverflowError,
        ValueError,
    ):  # even without a hard limit, the system has a maximum
        limit = soft
    if limit < needed:
        _log.warning(
            "too few file descriptors for TURNWIRE_MAX_STREAMS",
            limit=limit,
            needed=needed,
            streams_possible=max(0, limit - RESERVED) // PER_STREAM,
        )


def _covers(limit: int, needed: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= needed
