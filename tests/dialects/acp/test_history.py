"""The history: what a session tells when it is loaded."""

import json
from typing import Any

import pytest

from support import acp_messages as f
from turnwire.core.events import TextDelta
from turnwire.core.operations import History, HistoryPrompt, HistoryTurn
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AgentSession, DialectOptions, HistoryRequest
from turnwire.dialects.acp import Acp
from turnwire.dialects.acp.history import HistoryOperation
from turnwire.dialects.acp.opening import NOT_FOUND


def operation(known: str | None = f.SESSION, **asked: Any) -> HistoryOperation:
    given = {"user_id": "u1", "limit": 100, "init_s": 5, "verdict_s": 5, **asked}
    session, options = AgentSession(known=known), DialectOptions(cwd="/work")
    made = Acp().read_history(HistoryRequest(**given, agent_session=session, options=options))
    assert made.connect_request().method == "GET"
    made.connection_opened(0)
    return made


def loaded(*messages: bytes, **asked: Any) -> HistoryOperation:
    made = operation(**asked)
    for message in messages:
        made.receive_frame(message, 1)
    return made


PAST = (
    *(f.prompted("1"), f.prompted("+1?"), f.text("Let me see."), f.call(), f.state("completed")),
    *(f.text("It is 2."), f.update("usage_update"), f.prompted("And?"), f.text("Nothing.")),
)
LOADED = (f.initialized(load=True), *PAST, f.response(2))


def entries(made: HistoryOperation) -> list[Any]:
    assert isinstance(made.result, History)
    return list(made.result.entries)


def test_prompts_and_turns_in_their_order() -> None:
    first, turn, second, last = entries(loaded(*LOADED))

    assert first == HistoryPrompt("prompt-1", "1+1?")
    assert second == HistoryPrompt("prompt-3", "And?")
    assert isinstance(turn, HistoryTurn)
    assert [each.text for each in turn.events if isinstance(each, TextDelta)] == [
        *("Let me see.", "It is 2.")
    ]
    assert (turn.turn_id, last.turn_id) == ("turn-2", "turn-4")


def test_only_some_of_it() -> None:
    def ids(**asked: Any) -> list[str]:
        return [
            getattr(each, "turn_id", "") or each.message_id
            for each in entries(loaded(*LOADED, **asked))
        ]

    assert ids(limit=1) == ["turn-4"]
    assert ids(limit=2, before="prompt-3") == ["prompt-1", "turn-2"]
    assert ids(before="turn-2", limit=9) == ["prompt-1"]
    assert ids(before="prompt-1") == []
    for unknown in ("unknown", "prompt-2", "turn-6"):
        assert ids(before=unknown) == []


def test_an_answer_that_a_resume_brings_is_not_told_twice() -> None:
    running = (*PAST, f.response(2))
    made = loaded(f.initialized(load=True), *running, is_answer_under_way=True)
    assert [type(each) for each in entries(made)] == [HistoryPrompt, HistoryTurn, HistoryPrompt]
    assert len(entries(loaded(*LOADED, is_answer_under_way=True, limit=3))) == 3

    unanswered = (f.initialized(load=True), f.prompted("q"), f.response(2))
    assert len(entries(loaded(*unanswered, is_answer_under_way=True))) == 1
    assert entries(loaded(f.initialized(load=True), f.response(2), is_answer_under_way=True)) == []
    before = loaded(*LOADED, is_answer_under_way=True, before="prompt-3")
    assert len(entries(before)) == 2


def test_a_chat_without_a_session_has_no_history() -> None:
    assert entries(operation(known=None)) == []


def test_a_session_that_is_gone_has_no_history() -> None:
    assert entries(loaded(f.initialized(load=True), f.failure(2, "gone", NOT_FOUND))) == []


@pytest.mark.parametrize(
    "messages",
    [
        [f.failure(1, "auth required", -32000)],
        [f.initialized(version=2)],
        [f.initialized(load=True), f.failure(2, "overloaded")],
    ],
)
def test_another_failure_is_no_empty_chat(messages: list[bytes]) -> None:
    assert loaded(*messages).result is Rejection.SILENT


def test_a_null_beside_the_result_is_no_failure() -> None:
    made = loaded(f.initialized(load=True), *PAST, f.message(id=2, result={}, error=None))

    assert len(entries(made)) == 4


def test_an_agent_that_tells_no_past_offers_none() -> None:
    assert loaded(f.initialized(resume=True)).result is Rejection.UNSUPPORTED


def test_an_agent_that_says_nothing() -> None:
    made = operation()
    assert (made.tick(9), made.result) == ((), None)
    assert made.deadline == 10
    made.receive_frame(f.initialized(load=True), 7)
    made.receive_frame(f.text("a"), 8)
    assert made.deadline == 13
    made = operation()
    made.tick(10)
    assert made.result is Rejection.SILENT

    left = operation()
    left.connection_lost()
    assert left.result is Rejection.SILENT


def test_what_is_not_of_the_past_does_not_count() -> None:
    noise = (
        *(b"nonsense", f.text("x", session="s9"), f.message(method="x"), f.update("new")),
        *(f.update("tool_call"), f.update("usage_update", used=1), f.response(2 + 7)),
    )
    made = loaded(f.text("before"), f.initialized(load=True), *noise, *PAST, f.response(2))

    assert len(entries(made)) == 4
    asked = loaded(f.initialized(load=True)).receive_frame(f.permission(7), 1)
    assert json.loads(asked[0])["error"]["code"] == -32601
    assert list(made.prepare_frame(f.text("x")))
