"""The conversation with the gateway, step by step, without a gateway."""

import json
from collections.abc import Sequence

import pytest

from client_python.playing import STREAM, play
from turnwire_client.errors import (
    ClientError,
    ConnectionLostError,
    MalformedError,
    RefusedError,
    TurnLostError,
    UnreachableError,
)
from turnwire_client.events import Abort, Error, Finish
from turnwire_client.steps import Broken, Outcome, Reply

NOTHING = Reply(204, {})
CUT, UNSENT = Broken(is_sent=True), Broken(is_sent=False)
NO_HISTORY = Reply(501, {}, b'{"error":"Not supported by this agent","code":"not_supported"}')
BUSY = Reply(503, {"retry-after": "3"}, b'{"error":"Temporarily unavailable","code":"unavailable"}')
START = b'data: {"type":"start","messageId":"a1"}\n\n'
HELLO = START + b'data: {"type":"text-delta","id":"b","delta":"Hello"}\n\n'
END = b'data: {"type":"finish"}\n\ndata: [DONE]\n\n'


def history(*messages: tuple[str, str, str], finish: dict[str, str] | None = None) -> Reply:
    """A history of messages: id, role and text."""
    more = {} if finish is None else {"metadata": {"finish": finish}}
    found = [
        {"id": each, "role": role, "parts": [{"type": "text", "text": text}], **more}
        for each, role, text in messages
    ]
    return Reply(200, {}, json.dumps(found).encode())


ASKED = ("m1", "user", "hi")
ANSWERED = ("a1", "assistant", "Hello world")


def fails(error: type[ClientError], *outcomes: Outcome, is_repeated: bool = False) -> ClientError:
    with pytest.raises(error) as raised:
        play(*outcomes, is_repeated=is_repeated)
    return raised.value


def test_a_turn_without_a_break() -> None:
    assert play(STREAM, HELLO, END)[0] == ["POST chat", "TextDelta", "Finish"]


@pytest.mark.parametrize("broken", [b"", CUT])
def test_after_a_break_the_stream_is_read_again(broken: Outcome) -> None:
    asked, _ = play(STREAM, HELLO, broken, STREAM, HELLO, END)

    assert asked == ["POST chat", "TextDelta", "wait 0.0", "GET stream", "Finish"]


@pytest.mark.parametrize(
    ("finish", "end"),
    [
        (None, Finish()),
        ({"reason": "canceled"}, Abort()),
        ({"reason": "error", "errorText": "No"}, Error("No")),
        ({"reason": "error"}, Error("")),
    ],
)
def test_if_the_turn_is_over_by_then_the_history_has_the_rest(
    finish: dict[str, str] | None, end: Finish | Abort | Error
) -> None:
    over = history(ASKED, ANSWERED, finish=finish)
    asked, sending = play(STREAM, HELLO, CUT, NOTHING, over)

    assert asked[2:5] == ["wait 0.0", "GET stream", "GET messages"]
    assert asked[5:] == ["TextDelta", type(end).__name__]
    assert sending.turn.end == end
    assert sending.turn.message.text == "Hello world"


def test_if_another_turn_runs_by_then_the_history_has_the_rest() -> None:
    other = START.replace(b"a1", b"a2")
    asked, sending = play(STREAM, HELLO, CUT, STREAM, other, history(ASKED, ANSWERED))

    assert asked[3:] == ["GET stream", "GET messages", "TextDelta", "Finish"]
    assert sending.turn.message_id == "a1"


def test_a_history_that_lags_is_asked_again() -> None:
    lags = history(ASKED)
    asked, _ = play(STREAM, HELLO, CUT, NOTHING, lags, NOTHING, history(ASKED, ANSWERED))

    assert [step for step in asked if step.startswith("wait")] == ["wait 0.0", "wait 0.4"]
    assert asked[-1] == "Finish"


def test_the_rest_of_a_turn_that_nobody_has_is_lost() -> None:
    assert "rest" in str(fails(TurnLostError, STREAM, HELLO, CUT, NOTHING, NO_HISTORY))
    lags = (NOTHING, history(ASKED))
    lost = fails(TurnLostError, STREAM, HELLO, CUT, *lags, *lags, *lags)
    assert isinstance(lost, TurnLostError)
    assert lost.message_id == "m1"


def test_a_turn_whose_stream_comes_after_all_is_not_lost() -> None:
    lags = (STREAM, HELLO, CUT, NOTHING, history(ASKED))

    assert play(*lags, STREAM, HELLO, END)[0][-1] == "Finish"
    fails(ConnectionLostError, *lags, STREAM, HELLO, CUT, CUT)
    fails(TurnLostError, *lags, STREAM, HELLO, CUT, NOTHING, history(ASKED))


def test_a_prompt_is_repeated_only_if_it_was_not_sent() -> None:
    asked, _ = play(UNSENT, STREAM, HELLO, END)

    assert asked == ["POST chat", "wait 0.0", "POST chat", "TextDelta", "Finish"]
    fails(UnreachableError, *[UNSENT] * 4)


def test_if_the_prompt_may_have_arrived_the_history_says_so() -> None:
    running = play(CUT, history(ASKED), STREAM, HELLO, END)[0]
    over = play(CUT, history(ASKED, ANSWERED))[0]
    unknown = play(CUT, NO_HISTORY, STREAM, HELLO, END)[0]

    assert running == [
        *("POST chat", "wait 0.0", "GET messages", "GET stream", "TextDelta", "Finish")
    ]
    assert over == ["POST chat", "wait 0.0", "GET messages", "TextDelta", "Finish"]
    assert unknown == running


def test_a_prompt_that_nobody_has_is_lost_and_not_sent_again() -> None:
    lost = fails(TurnLostError, CUT, *[history(("m0", "user", "hi"))] * 3)

    assert isinstance(lost, TurnLostError)
    assert lost.message_id == "m1"


def test_a_repeated_prompt_is_looked_for_first() -> None:
    found = play(history(ASKED, ANSWERED), is_repeated=True)[0]
    absent = play(history(), STREAM, HELLO, END, is_repeated=True)[0]
    unknown = play(NO_HISTORY, STREAM, HELLO, END, is_repeated=True)[0]

    assert found == ["GET messages", "TextDelta", "Finish"]
    assert absent == unknown == ["GET messages", "POST chat", "TextDelta", "Finish"]


def test_a_gateway_that_starts_again_is_waited_for() -> None:
    asked, _ = play(STREAM, HELLO, CUT, BUSY, STREAM, HELLO, END)

    assert asked[2:] == ["wait 0.0", "GET stream", "wait 3", "GET stream", "Finish"]


def test_retries_are_bounded() -> None:
    fails(ConnectionLostError, STREAM, HELLO, CUT, *[CUT] * 3)
    never: Sequence[Outcome] = (STREAM, START, CUT) * 3
    fails(ConnectionLostError, STREAM, START, CUT, *never)
    later = Reply(503, {"retry-after": "60"}, BUSY.body)
    refused = fails(RefusedError, STREAM, HELLO, CUT, later)
    assert isinstance(refused, RefusedError)
    assert (refused.code, refused.retry_after) == ("unavailable", 60)


def test_refusals_are_raised_at_once() -> None:
    refused = fails(RefusedError, BUSY)

    assert str(refused) == "503 unavailable: Temporarily unavailable"
    fails(RefusedError, STREAM, HELLO, CUT, Reply(401, {}))
    fails(RefusedError, CUT, Reply(404, {}))


def test_what_is_no_gateway_is_malformed() -> None:
    fails(MalformedError, Reply(200, {}, b"<html>"))
    fails(MalformedError, CUT, Reply(200, {}, b"<html>"))
    fails(MalformedError, CUT, Reply(200, {}, b'[{"id":"m1","role":"user","parts":[{}]}]'))


def test_a_turn_is_resumed() -> None:
    assert play(NOTHING, resumes=True)[0] == ["GET stream"]
    assert play(STREAM, HELLO, END, resumes=True)[0] == ["GET stream", "TextDelta", "Finish"]
    broken, _ = play(STREAM, HELLO, CUT, STREAM, HELLO, END, resumes=True)
    assert broken == ["GET stream", "TextDelta", "wait 0.0", "GET stream", "Finish"]
