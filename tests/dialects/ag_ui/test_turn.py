"""Where our runs begin and end: which events are ours, the verdict, and what counts after it."""

import json
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import Played, protocol
from turnwire.core.agent import AbortScope
from turnwire.core.turn.outcome import Outcome
from turnwire.core.ui_stream.output import StreamOptions

CALL = f.whole_call("c1", "delete", '{"a":1}')


def test_a_whole_turn() -> None:
    played = Played(
        f.started(), f.text_start(), f.text("Hel"), f.text("lo"), f.text_end(), f.finished()
    )

    assert played.kinds == [
        *("start", "start-step", "text-start", "text-delta", "text-delta", "text-end"),
        *("finish-step", "finish"),
    ]
    assert played.client.message_id == f.RUN
    assert played.client.text == "Hello"
    assert played.turn.outcome is Outcome.COMPLETED
    played.client.close()


def test_the_start_of_our_run_may_lack_its_id_and_come_again() -> None:
    played = Played(f.event("RUN_STARTED"), f.text("a"), f.started(), f.text("b"))

    assert played.client.text == "ab"
    assert played.kinds.count("start") == 1


def test_events_of_another_run_are_foreign() -> None:
    played = Played(f.started("run-9"), f.text("secret"), f.finished("run-9"), f.failed("secret"))
    assert played.protocol.frame_stats.foreign == 4
    assert played.client.at == "before"

    played.tell(f.started(), f.text("a"), f.finished("run-9"), f.text("b"), f.finished())

    assert played.client.text == "ab"
    assert played.turn.outcome is Outcome.COMPLETED
    assert b"secret" not in played.written


def test_a_run_between_ours_is_foreign() -> None:
    played = Played(f.started(), f.text("a"), f.started("run-9"), f.text("x"), f.started())
    played.tell(f.text("b"), f.finished())

    assert played.client.text == "ab"


def test_the_end_of_our_run_counts_among_the_events_of_another() -> None:
    played = Played(f.started(), f.text("a"), f.started("run-9"), f.text("x"), f.finished())

    assert played.client.text == "a"
    assert played.turn.outcome is Outcome.COMPLETED


def test_events_before_a_run_are_foreign() -> None:
    played = Played(f.text("early"), f.started(), f.finished())

    assert played.client.text == ""
    assert played.protocol.frame_stats.foreign == 1


def test_an_error_before_the_run_began_is_the_verdict() -> None:
    played = Played(f.failed("no model"))

    assert played.kinds == ["start", "error", "finish"]
    assert played.client.error == "no model"
    assert played.turn.outcome is Outcome.FAILED


def test_an_end_before_the_run_began_is_the_verdict() -> None:
    assert Played(f.finished()).turn.outcome is Outcome.COMPLETED


def test_an_error_closes_all_that_is_open_and_nothing_after_it_counts() -> None:
    played = Played(
        *(f.started(), f.event("STEP_STARTED", stepName="x"), *CALL, f.thought("hm"), f.text("a")),
        f.failed("boom", code="rate_limit"),
        *(f.finished(), f.text("b"), f.failed("again")),
    )
    played.leave()

    assert played.kinds[-6:] == [
        *("text-delta", "text-end", "tool-output-error", "finish-step", "error", "finish")
    ]
    assert played.client.error == "boom"
    assert played.protocol.frame_stats.error_code == "rate_limit"
    played.client.close()


@pytest.mark.parametrize(("message", "shown"), [(None, "Turn failed"), ({"message": "x"}, "x")])
def test_an_error_of_any_shape_is_one(message: Any, shown: str) -> None:
    played = Played(f.started(), f.event("RUN_ERROR", message=message))

    assert played.client.error == shown


@pytest.mark.parametrize("seen", [(), (f.started(),), (f.started(), f.text("a"))])
def test_a_body_that_ends_without_a_verdict_is_interrupted(seen: tuple[bytes, ...]) -> None:
    played = Played(*seen).leave()

    assert played.turn.outcome is Outcome.INTERRUPTED
    assert played.client.error == "Stream interrupted"
    played.client.close()


def test_a_result_that_came_last_is_shown_although_the_body_broke() -> None:
    played = Played(f.started(), *CALL, f.result("21")).leave()

    assert played.of_call()[-1]["output"] == "21"
    assert played.turn.outcome is Outcome.INTERRUPTED


def test_a_result_that_waits_is_shown_in_a_moment() -> None:
    played = Played(f.started(), f.text("a"), *CALL, f.result("21")).wait(1.0)

    assert played.of_call()[-1]["output"] == "21"
    played.tell(f.text("b"), f.finished()).client.close()
    assert played.client.text == "ab"


def test_a_result_that_waits_is_shown_before_the_text_that_goes_on_behind_it() -> None:
    played = Played(f.started(), f.text("a"), *CALL, f.result("21"), f.text("b"))

    assert played.kinds[-6:] == [
        "tool-input-available",
        *("tool-output-available", "finish-step", "start-step", "text-start", "text-delta"),
    ]


def test_a_canceled_run() -> None:
    played = Played(f.started(), *CALL, f.finished(outcome={"type": "cancelled"}))

    assert played.kinds[-4:] == ["tool-output-error", "finish-step", "abort", "finish"]
    assert played.of_call()[-1]["errorText"] == "Canceled"
    assert played.turn.outcome is Outcome.CANCELED


def test_calls_that_nobody_ended_have_no_result() -> None:
    outcome = {"type": "success", "pendingToolCallIds": ["c1"]}

    played = Played(f.started(), *CALL, f.finished(outcome=outcome))

    assert played.of_call()[-1]["errorText"] == "No result"
    assert played.turn.outcome is Outcome.COMPLETED


def test_usage_is_summed_into_the_metadata() -> None:
    usage = [{"model": "a", "inputTokens": 1}, {"model": "b", "inputTokens": 2}]

    played = Played(f.started(), f.finished(usage=usage))

    assert played.client.metadata == {"usage": {"inputTokens": 3}}


def test_an_abort_closes_the_connection_and_sends_nothing() -> None:
    asked = protocol()

    asked.client_detached()
    asked.unwatched()
    asked.mark_stale()
    before = asked.abort_scope
    assert asked.abort() == ()
    asked.receive_frame(f.finished(), 0)

    assert (before, asked.abort_scope) == (AbortScope.OURS, AbortScope.NONE)


@pytest.mark.parametrize(
    ("frame", "counted"),
    [
        (b"nonsense", "malformed"),
        (b'{"type":7}', "malformed"),
        (f.event("TEXT_MESSAGE_CONTENT"), "malformed"),
        (f.event("MESSAGES_SNAPSHOT", messages=7), "malformed"),
        (f.text_chunk(delta="whose?"), "malformed"),
    ],
)
def test_what_cannot_be_read_is_counted(frame: bytes, counted: str) -> None:
    asked = protocol()

    asked.receive_frame(frame, 0)

    assert getattr(asked.frame_stats, counted) == 1


def test_an_unknown_event_is_counted_by_its_type() -> None:
    asked = protocol(f.event("PLAN_CHANGED"))

    assert asked.frame_stats.unrecognised == {"PLAN_CHANGED": 1}


def test_an_event_of_the_framework_is_not_read_twice_though_it_is_no_json() -> None:
    asked = protocol()

    assert asked.receive_frame(b'{"type":"RAW","event":NaN}', 0) == ""
    assert asked.frame_stats.malformed == 0


def test_an_event_of_the_framework_may_say_last_what_it_is() -> None:
    asked = protocol()

    assert asked.receive_frame(b'{"event":1,"type":"RAW"}', 0) == ""
    assert asked.frame_stats.left_out == {"RAW": 1}


def test_half_of_a_pair_meets_its_other_half() -> None:
    halves = [f.text("x").replace(b'"x"', half) for half in (rb'"\ud83d"', rb'"\ude00"')]

    played = Played(f.started(), *halves, f.finished())

    assert played.client.text == "\U0001f600"


def test_a_long_event_is_counted_in_steps() -> None:
    asked = protocol()
    long = f.text("x" * 100_000)

    assert sum(1 for _ in asked.prepare_frame(long)) > 1
    assert asked.receive_frame(long, 0) == "x" * 100_000


def test_many_deltas_are_one_text() -> None:
    played = Played(f.started(), *[f.text("ab ")] * 600, f.finished(), at_once=True)

    assert played.client.text == "ab " * 600


def test_a_client_that_asks_for_no_usage_gets_none() -> None:
    played = Played(
        *(f.started(), f.finished(usage=[{"inputTokens": 1}])), options_of_stream=StreamOptions()
    )

    assert played.client.metadata is None


CANARY = "canary-7f3a"


@pytest.mark.parametrize(
    "frame",
    [
        f.event("STATE_SNAPSHOT", snapshot={"token": CANARY, "messages": [{"tool_calls": CANARY}]}),
        f.event("STATE_DELTA", delta=[{"op": "add", "path": "/a", "value": CANARY}]),
        f.event("ACTIVITY_SNAPSHOT", messageId="a", activityType=CANARY, content={"x": CANARY}),
        f.snapshot({"id": "s", "role": "system", "content": CANARY}),
        f.snapshot({"id": "s", "role": "developer", "content": CANARY}, f.assistant(CANARY)),
        f.event("RUN_STARTED", runId=f.RUN, input={"messages": [CANARY]}),
        f.raw(x=CANARY),
        f.text("a", rawEvent={"x": CANARY}, metadata={"x": CANARY}),
        f.text_start("m9", role="system", name=CANARY),
        f.custom(CANARY, CANARY),
        f.event(
            "REASONING_ENCRYPTED_VALUE", subtype="message", entityId="x", encryptedValue=CANARY
        ),
    ],
)
def test_what_is_for_nobody_is_in_no_output(frame: bytes) -> None:
    played = Played(
        *(f.started(), *CALL, frame, f.text(CANARY[:0] + "x"), f.result("1")),
        *(f.text_start("m8", role="system"), f.text(CANARY, "m8"), frame),
        f.finished(result=CANARY),
    )

    assert played.turn.outcome is Outcome.COMPLETED
    assert CANARY not in played.written.decode()
    assert CANARY not in json.dumps(played.requests)


def test_each_of_two_messages_at_once_is_one_block() -> None:
    told = [f.text(f"{number} ", f"m{1 + number % 2}") for number in range(4)]
    played = Played(f.started(), *told, f.text_end(), f.text("5 ", "m2"), f.finished())

    assert played.client.texts == {"run-1:t0": "0 2 ", "run-1:t1": "1 3 5 "}
    assert played.kinds[2:] == [
        *("text-start", "text-delta", "text-start", "text-delta", "text-delta", "text-delta"),
        *("text-end", "text-delta", "text-end", "finish-step", "finish"),
    ]


def test_a_call_ends_the_texts_of_all_subagents() -> None:
    told = [f.text("a", "m1"), f.text("b", "m2"), f.call(), f.text("c", "m1"), f.text("d", "m2")]
    played = Played(f.started(), *told, f.finished())

    assert list(played.client.texts.values()) == ["a", "b", "c", "d"]
    assert played.kinds[6:9] == ["text-end", "text-end", "tool-input-start"]


def test_the_texts_of_two_subagents_at_once_are_one_block_each() -> None:
    told = [
        f.event("SUBAGENT_STARTED", subagentRunId=owner, name=f"writer {owner}") for owner in "ab"
    ]
    told += [
        f.text_chunk(messageId="ma", delta="Tea ", subagentRunId="a"),
        f.text_chunk(messageId="mb", delta="Gin ", subagentRunId="b"),
        f.text_chunk(delta="is hot. ", subagentRunId="a"),
        f.text_chunk(delta="is not.", subagentRunId="b"),
    ]
    told += [f.event("SUBAGENT_FINISHED", subagentRunId=owner) for owner in "ab"]
    played = Played(f.started(), *told, f.finished())

    texts = [part["text"] for part in played.client.parts if part["type"] == "text"]
    assert texts == ["Tea is hot. ", "Gin is not."]
    assert played.turn.outcome is Outcome.COMPLETED
    played.client.close()
