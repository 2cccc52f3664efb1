"""What becomes of the fields that a frame has of a call."""

from typing import Any

import pytest
from msgspec import Raw

from turnwire.dialect import Phase, ToolUpdate, tool_update


@pytest.mark.parametrize(
    ("fields", "phase", "args", "result", "error"),
    [
        ({}, Phase.RUNNING, None, None, None),
        ({"args": Raw(b"{}")}, Phase.RUNNING, Raw(b"{}"), None, None),
        ({"result": Raw(b"null")}, Phase.COMPLETED, None, Raw(b"null"), None),
        ({"args": Raw(b"1"), "result": Raw(b"2")}, Phase.COMPLETED, Raw(b"1"), Raw(b"2"), None),
        ({"error": "no"}, Phase.ERROR, None, None, "no"),
        ({"error": "", "result": Raw(b"2")}, Phase.ERROR, None, Raw(b"2"), ""),
    ],
)
def test_a_call_runs_until_there_is_an_outcome(
    fields: Any, phase: Phase, args: Raw | None, result: Raw | None, error: str | None
) -> None:
    assert tool_update("c1", "search", **fields) == ToolUpdate(
        call_id="c1", tool_name="search", phase=phase, args=args, result=result, error=error
    )
