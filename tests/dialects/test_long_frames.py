"""Long frames are looked into before they are heard, and tell what short ones tell."""

import gc
import json
from collections import deque
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from turnwire.core.agent import AgentProtocol, Dialect
from turnwire.core.bounds import FIELDS_MAX, LONG_BYTES, PARTS_MAX, VALUES_MAX
from turnwire.core.events import ToolUpdate
from turnwire.core.operations import History, HistoryTurn, Operation
from turnwire.core.rejection import Rejection
from turnwire.core.requests import (
    AnswerRequest,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StopRequest,
)
from turnwire.core.terms import Terms
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.core.wire.census import TooManyError
from turnwire.dialects import DIALECTS
from turnwire.dialects.session_agent.frames import Snapshot, parse_parts
from turnwire.dialects.session_agent.init import Ahead
from turnwire.dialects.session_agent.snapshots import SnapshotMerger

V2, SESSION_AGENT = DIALECTS["v2"], DIALECTS["session-agent"]
BOTH = pytest.mark.parametrize("dialect", [V2, SESSION_AGENT], ids=lambda each: each.name)

FILLER = "x" * LONG_BYTES
WHERE: dict[str, Any] = {"user_id": "u1", "init_s": 5.0}


def frame(**said: Any) -> bytes:
    return json.dumps(said).encode()


def looked_into(who: AgentProtocol | Operation[Any], told: bytes) -> int:
    """How many steps it took."""
    return sum(1 for _ in who.prepare_frame(told))


def every_kind(dialect: Dialect) -> list[AgentProtocol | Operation[Any]]:
    return [
        dialect.prompt(PromptRequest(text="hi", prompt_id="p1")),
        dialect.resume(ResumeRequest(**WHERE)),
        dialect.stop(StopRequest(**WHERE, verdict_s=5.0)),
        dialect.read_history(HistoryRequest(**WHERE, verdict_s=5.0, limit=10)),
        dialect.resume(ResumeRequest(**WHERE, replies=(QuestionReply("q1", Raw(b"1"), None),))),
    ]


def turn(its_id: str, text: str, **more: Any) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}, {"type": "finish", "reason": "end_turn"}]
    return {"id": its_id, "role": "assistant", "content": text, "parts": parts, **more}


def init(*messages: object, **data: Any) -> bytes:
    return frame(type="init", data=data, session={"messages": [*messages]})


@BOTH
def test_an_init_that_would_take_the_memory_is_refused_by_all(dialect: Dialect) -> None:
    for who in every_kind(dialect):
        shapes: list[list[object]] = [[{}] * VALUES_MAX, [{"parts": [1] * VALUES_MAX}]]
        for messages in shapes:
            with pytest.raises(TooManyError):
                looked_into(who, init(*messages))


@BOTH
def test_what_an_init_carries_along_unread_may_be_as_long_as_it_likes(dialect: Dialect) -> None:
    result = {"type": "tool-call", "callId": "c", "result": [1] * (2 * VALUES_MAX)}
    long = init({"id": "t1", "role": "assistant", "parts": [result]})

    for who in every_kind(dialect):
        assert looked_into(who, long)


@BOTH
def test_other_types_are_taken_as_they_are(dialect: Dialect) -> None:
    who = dialect.prompt(PromptRequest(text="hi", prompt_id="p1"))

    assert looked_into(who, frame(type="chunk", content=FILLER, x=[{}] * VALUES_MAX)) == 1


@pytest.mark.no_cover  # very many values in each of many ways; the other cases reach the same lines
@BOTH
def test_a_type_that_comes_last_or_is_escaped_is_read_as_well(dialect: Dialect) -> None:
    values: list[object] = [{}] * VALUES_MAX
    explosive = frame(session={"messages": values}, type="init")

    for who in every_kind(dialect):
        looked_into(who, frame(x=values, y=["init", "question"], type="chunk"))
        for told in (
            explosive,
            frame(session={"messages": values}, y="question", type="init"),
            explosive.replace(b'"init"', rb'"\u0069nit"'),
            explosive.replace(b"{}", b"NaN", 1),
            frame(type="init", session={"messages": values}).replace(b'"init"', rb'"\u0069nit"'),
        ):
            with pytest.raises(TooManyError):
                looked_into(who, told)


@BOTH
def test_a_result_of_very_many_numbers_that_are_none_is_no_init(dialect: Dialect) -> None:
    who = dialect.prompt(PromptRequest(text="hi", prompt_id="p1"))
    result = frame(type="tool", result=[float("nan")] * (2 * VALUES_MAX))

    looked_into(who, result.replace(b'{"type": "tool", ', b"{")[:-1] + b',"type":"tool"}')


@BOTH
def test_a_history_is_the_same_however_long_its_frame(dialect: Dialect) -> None:
    messages = [turn(f"t{i}", f"said {i}") for i in range(600)]
    told = [init(*messages), init(*messages, filler=FILLER)]
    results = []
    for heard in told:
        recall = dialect.read_history(HistoryRequest(**WHERE, verdict_s=5.0, limit=700))
        recall.connection_opened(0)
        looked_into(recall, heard)
        recall.receive_frame(heard, 0)
        assert isinstance(recall.result, History)
        results.append(ui_messages(recall.result))

    assert results[0] == results[1]
    assert len(json.loads(results[0])) == 600


@BOTH
def test_what_is_odd_in_a_long_history_is_left_out(dialect: Dialect) -> None:
    recall = dialect.read_history(HistoryRequest(**WHERE, verdict_s=5.0, limit=700))
    recall.connection_opened(0)
    heard = init(turn("t1", "one"), 5, {"id": 7}, turn("t2", FILLER))

    looked_into(recall, heard)
    recall.receive_frame(heard, 0)

    said = getattr(recall.result, "entries", ())
    assert [each.turn_id for each in said] == ["t1", "t2"]


@BOTH
@pytest.mark.parametrize(
    "told",
    [
        pytest.param(b'{"type":"init","session":5,"x":"%b"}' % FILLER.encode(), id="no session"),
        pytest.param(b'{"type":"init","session":{"messages":NaN}}', id="no JSON"),
        pytest.param(b'{"type":"init","data":[],"session":{}}', id="no data"),
    ],
)
def test_what_cannot_be_read_is_left_to_whoever_hears_it(dialect: Dialect, told: bytes) -> None:
    for who in every_kind(dialect):
        deque(who.prepare_frame(told), maxlen=0)
        who.receive_frame(told, 0)


def test_a_running_turn_is_resumed_from_a_long_frame() -> None:
    running = {"id": "t9", "role": "assistant", "parts": [{"type": "text", "text": "so far"}]}
    heard = init(turn("t1", FILLER), running, runnerBusy=True, runningTurnId="t9")
    resumed = V2.resume(ResumeRequest(**WHERE))
    resumed.connection_opened(0)

    looked_into(resumed, heard)

    assert "so far" in str(resumed.receive_frame(heard, 0))
    assert resumed.accepted


def test_a_prompt_hears_of_named_prompts_in_a_long_frame() -> None:
    prompting = V2.prompt(PromptRequest(text="hi", prompt_id="p1"))
    prompting.connection_opened(0)
    heard = init({"id": "u", "role": "user", "promptId": "p0"}, turn("t1", FILLER))

    looked_into(prompting, heard)
    prompting.receive_frame(heard, 0)

    # So a turn that names none is not ours.
    assert "TurnStarted" not in str(
        prompting.receive_frame(frame(type="message.create", turnId="t2"), 0)
    )


@pytest.mark.parametrize(
    ("dialect", "told"),
    [
        (
            V2,
            frame(
                type="question", questionId="q", **dict.fromkeys(map(str, range(FIELDS_MAX + 2)), 1)
            ),
        ),
        (
            SESSION_AGENT,
            frame(type="message.updated", data={"id": "t", "parts": [{}] * (VALUES_MAX + 2)}),
        ),
        (
            SESSION_AGENT,
            frame(
                type="interactive_prompt", prompt={"id": "q", "actions": [{}] * (FIELDS_MAX + 2)}
            ),
        ),
    ],
)
def test_what_is_taken_apart_has_a_bound(dialect: Dialect, told: bytes) -> None:
    with pytest.raises(TooManyError):
        looked_into(dialect.prompt(PromptRequest(text="hi", prompt_id="p1")), told)


def test_a_question_of_many_fields_is_malformed() -> None:
    fields = dict.fromkeys(map(str, range(FIELDS_MAX + 2)), 1)
    prompting = V2.prompt(PromptRequest(text="hi", prompt_id="p1"))
    prompting.connection_opened(0)
    prompting.receive_frame(frame(type="message.create", turnId="t", promptId="p1"), 0)

    assert prompting.receive_frame(frame(type="question", questionId="q", **fields), 0) is None
    assert prompting.frame_stats.malformed == 1


def test_a_question_of_many_fields_is_left_out_of_a_history() -> None:
    fields = dict.fromkeys(map(str, range(FIELDS_MAX + 2)), 1)
    parts = [{"type": "question", "questionId": "q", **fields}, {"type": "text", "text": "said"}]
    resumed = V2.resume(ResumeRequest(**WHERE))
    resumed.connection_opened(0)
    running = {"id": "t9", "role": "assistant", "parts": parts}

    told = str(resumed.receive_frame(init(running, runnerBusy=True, runningTurnId="t9"), 0))

    assert "said" in told
    assert "Question" not in told


@BOTH
def test_numbers_that_are_none_among_many_values_are_null(dialect: Dialect) -> None:
    numbers = [float("nan"), *range(15_000)]
    part = {"type": "tool-call", "callId": "c", "toolName": "t", "status": "completed"}
    message = {
        "id": "t1",
        "role": "assistant",
        "content": "",
        "parts": [{**part, "result": numbers}],
    }
    heard = init({**message, "parts": [*message["parts"], {"type": "finish"}]})
    recall = dialect.read_history(HistoryRequest(**WHERE, verdict_s=5.0, limit=10))
    recall.connection_opened(0)

    looked_into(recall, heard)
    recall.receive_frame(heard, 0)

    assert isinstance(recall.result, History)
    (said,) = recall.result.entries
    assert isinstance(said, HistoryTurn)
    results = [each.result for each in said.events if isinstance(each, ToolUpdate)]
    assert results[-1] is not None
    assert bytes(results[-1]).replace(b" ", b"").startswith(b"[null,0,1,2,")


def test_a_question_that_is_too_odd_to_be_told_is_not_answered() -> None:
    fields = dict.fromkeys(map(str, range(FIELDS_MAX + 2)), 1)
    running = {
        "id": "t9",
        "role": "assistant",
        "parts": [{"type": "question", "questionId": "q", **fields}],
    }
    answering = V2.answer(
        AnswerRequest(**WHERE, verdict_s=5.0, reply=QuestionReply("q", Raw(b"1")))
    )
    answering.connection_opened(0)

    assert answering.receive_frame(init(running, runnerBusy=True, runningTurnId="t9"), 0) == ()
    assert answering.result is Rejection.UNKNOWN


def test_an_answer_to_one_of_very_many_turns_is_found_at_once() -> None:
    question = [{"type": "question", "questionId": "q"}]
    turns = [
        {"id": f"t{i}", "role": "assistant", "parts": question, "promptId": f"p{i}"}
        for i in range(20_000)
    ]
    prompts = [{"id": f"u{i}", "role": "user", "promptId": f"p{i}"} for i in range(20_000)]
    terms = Terms(asker_alone=True)
    answer = AnswerRequest(**WHERE, verdict_s=5.0, reply=QuestionReply("q", Raw(b"1")), terms=terms)
    answering = V2.answer(answer)
    answering.connection_opened(0)

    told = answering.receive_frame(init(*prompts, *turns, runnerBusy=True, runningTurnId="t7"), 0)

    assert json.loads(told[0])["turnId"] == "t7"


def test_a_long_question_is_counted_and_heard() -> None:
    prompting = V2.prompt(PromptRequest(text="hi", prompt_id="p1"))

    assert looked_into(prompting, frame(type="question", questionId="q", text=FILLER)) > 1


def test_of_more_parts_than_are_taken_apart_none_is() -> None:
    assert parse_parts(Raw(b"[" + b"1," * VALUES_MAX + b"1]")) == ([], 0)
    assert parse_parts(Raw(b'{"type":"image"}')) == ((), 0)


@pytest.mark.parametrize(("text", "entries", "steps"), [(FILLER, 10, 10), ("", 512, 2)])
def test_a_long_entry_takes_a_step_of_its_own_and_short_ones_share_it(
    text: str, entries: int, steps: int
) -> None:
    session = Raw(frame(messages=[turn("t1", text)] * entries))

    assert sum(1 for _ in Ahead().read(session)) == steps


@BOTH
def test_of_a_turn_of_more_parts_than_anybody_has_the_last_are_read(dialect: Dialect) -> None:
    """It does not keep anybody from the rest of the session, nor from its own end."""
    long = turn("t1", "x")
    call = {"type": "tool-call", "toolName": "x", "status": "completed", "result": 1}
    calls = [{**call, "callId": f"c{number}"} for number in range(PARTS_MAX + 10)]
    long["parts"] = [*calls, *long["parts"]]
    recalling = dialect.read_history(HistoryRequest(**WHERE, verdict_s=5.0, limit=10))

    looked_into(recalling, init(long, turn("t2", "after")))
    recalling.receive_frame(init(long, turn("t2", "after")), 0)

    assert isinstance(recalling.result, History)
    first, second = json.loads(ui_messages(recalling.result))
    shown = [part["toolCallId"] for part in first["parts"] if "toolCallId" in part]
    assert shown[0] == "c12"
    assert shown[-1] == f"c{PARTS_MAX + 9}"
    assert [part["text"] for part in second["parts"] if "text" in part] == ["after"]


@BOTH
@pytest.mark.parametrize("ends", [[], [{"type": "finish", "reason": "end_turn"}]])
def test_whatever_is_nested_however_deep_is_heard(
    dialect: Dialect, ends: list[dict[str, Any]]
) -> None:
    """There is a depth at which one decoder gives up and the other does not."""
    for depth in range(850, 1_001, 5):
        call = {"type": "tool-call", "callId": "c", "toolName": "x", "status": "running"}
        deep = json.dumps({**call, "args": 0})[:-2] + "[" * depth + "]" * depth + "}"
        raw = init({"id": "t", "role": "assistant", "parts": [FILLER, "deep", *ends]})
        told = raw.replace(b'"deep"', deep.encode())
        for who in every_kind(dialect):
            who.connection_opened(0)
            with suppress(TooManyError):
                looked_into(who, told)
                who.receive_frame(told, 0)


@BOTH
def test_what_is_said_again_of_a_session_is_not_kept(dialect: Dialect) -> None:
    said = init(*(turn(f"t{number}", FILLER) for number in range(9)), runnerBusy=True)
    for who in every_kind(dialect):
        who.connection_opened(0)
        for _ in range(2):
            looked_into(who, said)
            who.receive_frame(said, 0)
        ahead = getattr(who, "_ahead", None)

        assert ahead is None or not any(isinstance(it, list) for it in gc.get_referents(ahead))


@pytest.mark.parametrize("calls", [PARTS_MAX - 10, PARTS_MAX + 500])
def test_text_is_trusted_where_all_parts_are_read(calls: int) -> None:
    parts = [{"type": "tool-call", "callId": f"c{n}", "status": "completed"} for n in range(calls)]
    parts += [
        {"type": "text", "text": "a"},
        {"type": "tool-call", "callId": "z", "status": "running"},
    ]
    its = msgspec.json.decode(frame(id="t", role="assistant", parts=parts), type=Snapshot)

    _, trusted = SnapshotMerger(accumulates=False).merge(its, (), whole=True)

    assert trusted is (calls < PARTS_MAX)
