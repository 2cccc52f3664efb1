"""What eight servers sent, read to its end by a strict client, beside a reference client.

tests/golden/ag-ui has the bodies; beside each is what the protocol's reference client made of it.
"""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from support.ag_ui_turn import Played
from turnwire.core.turn.outcome import Outcome
from turnwire.core.wire.event_stream import EventStreamReader

GOLDEN: Final = Path(__file__).parents[2] / "golden/ag-ui"
BODIES: Final = [
    path
    for path in sorted(GOLDEN.glob("*.body"))
    if json.loads(path.with_suffix(".json").read_text())["status"] == 200
]
FAILURES: Final = {
    "langgraph-approvals_approved": "When there are multiple pending interrupts",
    "agent-framework-prompt_while_asked": "Pending interrupts require a resume entry",
    "adk-prompt_while_asked": "Thread has open interrupt",
    "strands-prompt_while_asked": "Thread has pending interrupts",
}
"""Beside the runs that shall fail."""
UNREAD_BY_THE_REFERENCE: Final = {"pydantic-ai-prompt_while_asked"}


def about(body: Path) -> Any:
    return json.loads(body.with_suffix(".json").read_text())


def played(body: Path, *, at_once: bool = True) -> Played:
    frames = EventStreamReader(10**7).read(body.read_bytes())
    turn = Played(prompt_id=about(body)["request"]["runId"]).tell(*frames, at_once=at_once)
    return turn.leave()


@pytest.mark.parametrize("body", BODIES, ids=lambda path: path.stem)
def test_a_strict_client_reads_it_to_its_end(body: Path) -> None:
    turn = played(body)
    stats = turn.protocol.frame_stats

    assert (stats.malformed, stats.foreign, stats.unrecognised) == (0, 0, {})
    is_failure = body.stem.endswith("-failed") or body.stem in FAILURES
    if turn.turn.outcome is None:  # it asks
        assert "approval" in body.stem or body.stem == "langgraph-prompt_while_asked"
        assert set(turn.client.questions.values()) == {"open"}
    else:
        assert turn.turn.outcome is (Outcome.FAILED if is_failure else Outcome.COMPLETED)
        turn.client.close()
    assert (turn.client.error or "").startswith(FAILURES.get(body.stem, ""))
    assert turn.written == played(body, at_once=False).written


@pytest.mark.parametrize("body", BODIES, ids=lambda path: path.stem)
def test_its_text_is_that_of_the_reference_client(body: Path) -> None:
    turn, expected = played(body), about(body)["client"]["streamed"]

    if body.stem not in UNREAD_BY_THE_REFERENCE:
        assert turn.client.text == expected["text"]
    reasoning = "".join(turn.client.reasonings.values())
    # One server tells its thoughts twice, and the reference client shows both.
    assert reasoning == expected["reasoning"] or reasoning * 2 == expected["reasoning"]


WITH_TOOLS: Final = sorted(
    {path.stem.partition("-tools")[0] for path in BODIES if "-tools" in path.stem}
)


@pytest.mark.parametrize("framework", WITH_TOOLS)
def test_both_calls_get_their_inputs_and_their_outcomes(framework: str) -> None:
    turn = played(GOLDEN / f"{framework}-tools.body")

    found = [(given, str(outcome)) for given, outcome in turn.calls().values()]
    assert [given for given, _ in found] == [{"expression": "12*7"}, {"city": "Tokyo"}]
    assert ["12*7 is 84" in found[0][1], "it is 12:00 in Tokyo" in found[1][1]] == [True, True]


def test_failures_are_errors_where_a_server_marks_them() -> None:
    turn = played(GOLDEN / "pydantic-ai-tool_failed.body")

    assert turn.of_call("call_1")[-1]["type"] == "tool-output-error"


ASKING: Final = [
    path for path in BODIES if path.stem.endswith("-approval") and "agno" not in path.stem
]


@pytest.mark.parametrize("body", ASKING, ids=lambda path: path.stem)
def test_an_approval_is_one_question_about_the_call(body: Path) -> None:
    turn = played(body)

    (question,) = [chunk["data"] for chunk in turn.chunks if chunk["type"] == "data-question"]
    assert len(turn.calls()) == 1
    assert question["kind"] == "approval"
    assert (question["callId"], question["toolName"]) == ("call_1", "delete_file")
    assert question["args"] == {"path": "notes.txt"}
    assert question["text"]
