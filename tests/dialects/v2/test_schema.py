"""The schema of this wire: it names frames and fields that exist, and every frame is in it."""

import pytest

from support.schemas import unknown_paths
from turnwire.dialects.v2.frames import KNOWN
from turnwire.dialects.v2.schema import SCHEMA

TYPES = {str(frame.__struct_config__.tag) for frame in KNOWN}


def test_all_frames_are_in_it_under_their_types() -> None:
    assert {str(frame.__struct_config__.tag) for frame in SCHEMA.frames} == TYPES


def test_its_deltas_are_frames() -> None:
    assert SCHEMA.deltas
    assert SCHEMA.deltas <= TYPES


@pytest.mark.parametrize("table", ["unread", "inside", "types"])
def test_its_paths_lead_somewhere(table: str) -> None:
    assert unknown_paths(SCHEMA, getattr(SCHEMA, table)) == []
