"""The schema of this wire: it names frames and fields that exist, and every frame is in it."""

import pytest

from support.schemas import paths_of, unknown_paths
from turnwire.dialects.session_agent.frames import KNOWN
from turnwire.dialects.session_agent.schema import SCHEMA

TYPES = {str(frame.__struct_config__.tag) for frame in KNOWN}


def test_all_frames_are_in_it_under_their_types() -> None:
    assert {str(frame.__struct_config__.tag) for frame in SCHEMA.frames} == TYPES


def test_its_deltas_are_frames() -> None:
    assert SCHEMA.deltas
    assert SCHEMA.deltas <= TYPES


@pytest.mark.parametrize("table", ["unread", "inside", "types"])
def test_its_paths_lead_somewhere(table: str) -> None:
    assert unknown_paths(SCHEMA, getattr(SCHEMA, table)) == []


def test_no_field_is_both_decoded_and_unread() -> None:
    decoded = paths_of(SCHEMA)
    twice = {
        f"{path}.{name}"
        for path, fields in SCHEMA.unread.items()
        for name in fields
        if f"{path}.{name}" in decoded
    }

    assert twice == set()
