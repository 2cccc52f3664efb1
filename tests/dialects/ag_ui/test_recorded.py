"""What eight servers sent, read to its end by a strict client, beside a reference client.

tests/golden/ag-ui has the bodies; beside each is what the protocol's reference client made of it,
and what a third party's validator finds wrong with it.
"""

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from support.ag_ui_turn import Played
from turnwire.core.turn.outcome import Outcome
from turnwire.core.wire.event_stream import EventStreamReader

TESTS: Final = Path(__file__).parents[2]
GOLDEN: Final = TESTS / "golden/ag-ui"
PAGE: Final = (TESTS.parent / "docs/ag-ui.md").read_text(encoding="utf-8")
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


def resumed(body: Path) -> Played:
    """A run after an approval, in the turn of the run that asked."""
    framework, _, scenario = body.stem.rpartition("-")
    asks = "approvals" if scenario.startswith("approvals") else "approval"
    turn = played(GOLDEN / f"{framework}-{asks}.body")
    for question_id in list(turn.client.questions):
        turn.reply(question_id, answer=True)
    its_id, ours = about(body)["request"]["runId"], turn.requests[-1]["runId"]
    frames = EventStreamReader(10**7).read(
        body.read_bytes().replace(its_id.encode(), ours.encode())
    )
    return turn.open_again().tell(*frames).leave()


def as_shown(content: str) -> Any:
    """A result as clients see it: what its JSON is, or the text."""
    try:
        value = json.loads(content)
    except ValueError:
        return content
    return value if isinstance(value, str | dict | list) else content


SKIPPED_CALLS: Final = {
    "agent-framework-approvals_approved": "Tool execution skipped - user provided follow-up message"
}
"""Results of a call that the server invented to ask for an approval: there is no card of it."""


@pytest.mark.parametrize("body", BODIES, ids=lambda path: path.stem)
def test_its_results_are_those_of_the_reference_client(body: Path) -> None:
    recorded = about(body)
    turn = resumed(body) if recorded["request"].get("resume") else played(body)
    expected = {
        each["toolCallId"]: as_shown(each["content"])
        for each in recorded["client"]["messages"]
        if each["role"] == "tool" and each["content"] != SKIPPED_CALLS.get(body.stem)
    }
    outcomes = {call_id: outcome for call_id, (_, outcome) in turn.calls().items()}

    assert {call_id: outcomes[call_id] for call_id in expected} == expected
    others = {outcome for call_id, outcome in outcomes.items() if call_id not in expected}
    assert others <= {None, "No result"}


def listed_findings() -> dict[str, set[str]]:
    """By recording: the findings of the validator that the page explains."""
    _, _, table = PAGE.partition("| The validator finds |")
    found: dict[str, set[str]] = defaultdict(set)
    for row in table.partition("\n\n")[0].splitlines()[2:]:
        finding, recordings, _ = row.strip("| ").split(" | ")
        for stem in re.findall(r"`([\w-]+)`", recordings):
            found[stem] |= set(re.findall(r"AGUI\d+", finding))
    return found


@pytest.mark.parametrize("body", BODIES, ids=lambda path: path.stem)
def test_what_a_validator_finds_wrong_is_what_the_page_explains(body: Path) -> None:
    findings = {each.partition(":")[0] for each in about(body)["validator"]}

    assert findings == listed_findings().get(body.stem, set())


def test_the_page_explains_no_recording_that_is_not_there() -> None:
    assert listed_findings().keys() <= {body.stem for body in BODIES}
    assert len(listed_findings()) > 10


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
