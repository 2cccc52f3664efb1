"""The schema of this wire: it names frames and fields that exist, and every frame is in it."""

import json

import pytest

from support import v2_frames as f
from support.schemas import unknown_paths
from turnwire.core.recording.redact import redactor_of
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


def test_data_for_the_app_keeps_its_name_and_its_structure_alone() -> None:
    redactor = redactor_of(SCHEMA)

    redacted = json.loads(
        redactor.frame(f.data({"Ann": [2, "x", True]}, dataName="chart-2", dataId="d1"))
    )

    assert (redacted["dataName"], redacted["dataId"]) == ("chart-2", "d1")
    assert redacted["value"] == {"xxx": [1, "x", True]}
    piece = json.loads(redactor.frame(f.tool_input('{"Ann":')))
    assert (piece["delta"], piece["toolName"]) == ('{"xxx":', "bash")
