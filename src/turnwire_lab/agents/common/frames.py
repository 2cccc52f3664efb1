"""Frames of either wire, as far as they are JSON objects."""

from typing import Any

import msgspec

Json = dict[str, Any]


def parse_plain(data: str | bytes) -> Json | None:
    """A frame as it was written, for tests that read what the agent received."""
    try:
        return msgspec.json.decode(data, type=dict)
    except (msgspec.DecodeError, UnicodeError):
        return None
