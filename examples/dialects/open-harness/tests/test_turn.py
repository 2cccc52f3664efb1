"""What a turn decides: which runs an abort would hit, and what odd events mean."""

import json
from typing import Any

import turnwire.dialect as td
from open_harness_dialect import OpenHarnessAlone
from open_harness_dialect.runs import OTHERS_MAX


class Apart(td.Member):
    """The stream of a session that other processes serve too."""

    @property
    def apart(self) -> bool:
        return True


def begun(member: td.Member | None = None) -> td.AgentProtocol:
    turn = OpenHarnessAlone().prompt(td.PromptRequest(text="hi", prompt_id="p1"), member)
    assert turn.abort_scope is td.AbortScope.NONE
    turn.connection_opened(0.0)
    return turn


def event(kind: str, run_id: str = "p1", **fields: Any) -> bytes:
    told = {"type": kind, "runId": run_id, "nodeId": "writer", **fields}
    return json.dumps({"type": "event", "event": told}).encode()


def scope(turn: td.AgentProtocol) -> td.AbortScope:
    return turn.abort_scope


def events(turn: td.AgentProtocol, frame: bytes) -> list[td.Event]:
    decoded = turn.receive_frame(frame, 0.0)
    assert isinstance(decoded, td.Decoded)
    return list(decoded.events)


def test_a_run_that_is_alone_is_aborted_until_it_ends() -> None:
    turn = begun()
    assert len(turn.abort()) == 1

    turn.receive_frame(event("flow:complete"), 0.0)
    assert scope(turn) is td.AbortScope.NONE
    assert not turn.abort()


def test_a_run_beside_others_waits_until_they_end() -> None:
    turn = begun()

    turn.receive_frame(event("agent:text:delta", "theirs", content="x"), 0.0)
    assert scope(turn) is td.AbortScope.SHARED
    assert not turn.abort()
    turn.receive_frame(event("flow:aborted", "theirs"), 0.0)
    assert scope(turn) is td.AbortScope.OURS


def test_no_abort_where_other_processes_may_have_runs() -> None:
    assert scope(begun(Apart())) is td.AbortScope.NONE


def test_no_abort_behind_events_that_were_not_read() -> None:
    turn = begun()
    turn.mark_stale()

    assert scope(turn) is td.AbortScope.NONE


def test_no_abort_if_there_are_too_many_runs_to_keep() -> None:
    turn = begun()
    for number in range(OTHERS_MAX + 1):
        turn.receive_frame(event("flow:start", f"r{number}"), 0.0)
    for number in range(OTHERS_MAX):
        turn.receive_frame(event("flow:complete", f"r{number}"), 0.0)

    assert scope(turn) is td.AbortScope.NONE


def test_an_answer_that_is_no_text_is_sent_as_json() -> None:
    turn = begun()
    (asked,) = events(turn, event("agent:paused", promptId="ask-1"))
    assert isinstance(asked, td.Question)

    reply = td.QuestionReply("ask-1", td.from_text('{"a":1}'))
    sent = turn.reply(reply, "u1", 0.0)
    (command,) = [json.loads(frame)["command"] for frame in sent.to_agent]
    assert (command["promptId"], command["content"]) == ("ask-1", '{"a":1}')
    assert turn.reply(reply, "u1", 0.0) == td.Decoded(), "it is open no more"


def test_a_question_is_closed_if_the_run_goes_on_without_an_answer() -> None:
    turn = begun()
    (asked,) = events(turn, event("agent:paused"))
    assert isinstance(asked, td.Question)

    closed = events(turn, event("flow:resumed"))[0]
    assert closed == td.QuestionClosed(asked.question_id, expired=True)


def test_counts_and_results_of_another_kind_are_counted() -> None:
    turn = begun()

    assert events(turn, event("agent:complete", usage=["many"], result={"x": 1})) == []
    assert turn.frame_stats.left_out == {"usage": 1, "result of an agent": 1}
