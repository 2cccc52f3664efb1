"""Chunks for data of the agent's own kind, such as the state of an app, and for its status.

Use: `DataParts` knows the ids of a turn's parts; `add(part)` returns the chunk.

Clients show such a part where it first came, and replace its data in place.
"""

import re
from typing import Final

from msgspec import UNSET

from turnwire.core import safe_json
from turnwire.core.bounds import DATA_NAME, DATA_PARTS_MAX, keep
from turnwire.core.events import DataPart
from turnwire.core.ui_stream import chunks

RESERVED: Final = frozenset({"agent-status", "question"})
"""Names of the gateway's own parts. A part of the agent with such a name is dropped."""

_is_name: Final = re.compile(DATA_NAME).match


class DataParts:
    """The ids of the data parts of one turn."""

    __slots__ = ("_ids",)

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], None] = {}  # an ordered set

    def add(self, chunk: chunks.DataPart) -> bool:
        """Record a part that is sent. Returns whether it replaces an earlier one."""
        if not isinstance(chunk.id, str):
            return False
        key = chunk.type, chunk.id
        is_known = key in self._ids
        keep(self._ids, key, None, DATA_PARTS_MAX)
        return is_known


def status_chunk(status: str, detail: str | None = None) -> chunks.Chunk:
    """Return the chunk of what the agent is doing."""
    shown_detail = UNSET if detail is None else safe_json.join_surrogates(detail)
    return chunks.DataAgentStatus(
        chunks.StatusData(safe_json.join_surrogates(status), shown_detail)
    )


def part_chunks(part: DataPart) -> list[chunks.DataPart]:
    """Return the chunk of a part; none if its name is not allowed."""
    if part.name in RESERVED or not _is_name(part.name):
        return []
    part_id = safe_json.join_surrogates(part.part_id) if part.part_id else UNSET
    data = safe_json.sanitize(part.data)
    return [chunks.DataPart(f"data-{part.name}", data, part_id, part.transient or UNSET)]
