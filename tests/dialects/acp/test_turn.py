"""A turn: where it begins, what is ours, how it ends."""

from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import Played, begun
from turnwire.core.agent import ALIVE, AbortScope
from turnwire.core.body.attachments import Attachment
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.acp.turn import REFUSED


def test_the_response_to_the_prompt_is_the_end() -> None:
    played = begun(f.text("Hello"), f.done(usage={"totalTokens": 7}), f.text("late"))

    assert (played.turn.outcome, played.client.text) == (Outcome.COMPLETED, "Hello")
    assert played.chunks[-1]["messageMetadata"] == {"usage": {"totalTokens": 7}}
    played.client.close()


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        ("end_turn", Outcome.COMPLETED),
        ("max_tokens", Outcome.COMPLETED),
        ("max_turn_requests", Outcome.COMPLETED),
        ("refusal", Outcome.COMPLETED),
        ("something_new", Outcome.COMPLETED),
        ("cancelled", Outcome.CANCELED),
    ],
)
def test_reasons(reason: str, outcome: Outcome) -> None:
    played = begun(f.text("x"), f.done(reason))

    assert played.turn.outcome is outcome
    played.client.close()


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        (f.failure(f.PROMPT, "overloaded"), Outcome.FAILED),
        (f.failure(f.PROMPT, ""), Outcome.FAILED),
        (f.message(id=f.PROMPT, error=7), Outcome.FAILED),
        (f.response(f.PROMPT), Outcome.COMPLETED),
        (f.message(id=f.PROMPT, result=None), Outcome.COMPLETED),
        (f.message(id=float(f.PROMPT), result={}), Outcome.COMPLETED),
    ],
)
def test_every_response_to_the_prompt_ends_the_turn(end: bytes, outcome: Outcome) -> None:
    assert begun(end).turn.outcome is outcome


def test_an_error_has_its_text_and_its_code() -> None:
    played = begun(f.failure(f.PROMPT, "overloaded", -32000))

    assert played.client.error == "overloaded"
    assert played.protocol.frame_stats.error_code == "-32000"
    assert begun(f.message(id=f.PROMPT, error=7)).client.error == REFUSED


def test_a_session_is_kept_once_it_has_a_prompt_and_forgotten_if_it_is_gone() -> None:
    pdf = Attachment("application/pdf", "data:application/pdf;base64,QUJD")
    assert Played(*f.OPENED, attachments=(pdf,)).kept == []
    assert begun().kept == [f.SESSION]

    gone = begun(f.failure(f.PROMPT, "no such session", -32002))
    assert (gone.client.error, gone.kept) == ("no such session", [f.SESSION, "forgotten"])
    assert begun(f.failure(f.PROMPT, "overloaded")).kept == [f.SESSION]


def test_an_error_about_no_request_ends_the_turn_and_a_null_beside_the_result_is_none() -> None:
    unread = begun(f.message(id=None, error={"code": -32700, "message": "Parse error"}))
    assert unread.client.error == "Parse error"

    done = begun(f.message(id=f.PROMPT, result={"stopReason": "end_turn"}, error=None))
    assert done.turn.outcome is Outcome.COMPLETED


def test_a_connection_that_is_gone_interrupts_the_turn() -> None:
    played = begun(f.text("I was"), f.call(), f.state()).leave()

    assert played.turn.outcome is Outcome.INTERRUPTED
    assert played.of_call()[-1]["type"] == "tool-output-error"


def test_what_is_not_ours_is_not_shown() -> None:
    played = begun(f.text("theirs", session="session-9"), f.response(99))

    assert played.kinds == ["start", "start-step"]
    assert played.protocol.frame_stats.foreign == 2


def test_a_stop_cancels_once_and_nothing_that_follows_is_shown() -> None:
    played = begun(f.text("a"), f.call(), f.state()).stop()
    played.tell(f.text("late"), f.done("cancelled"))

    assert played.methods.count("session/cancel") == 1
    assert (played.client.text, played.kinds[-2:]) == ("a", ["abort", "finish"])
    assert list(played.protocol.abort()) == []


def test_a_turn_that_was_cancelled_is_cancelled_whatever_its_end_says() -> None:
    """One agent says `end_turn` of it."""
    protocol = begun(f.text("a")).protocol
    assert len(protocol.abort()) == 1

    late = protocol.receive_frame(f.text("late"), 0)
    asked: Any = protocol.receive_frame(f.permission(), 0)
    end: Any = protocol.receive_frame(f.done("end_turn"), 0)

    assert (late, len(asked.to_agent)) == (None, 1)
    assert end.events[0].reason.value == "canceled"


def test_a_client_that_hangs_up_cancels_the_turn() -> None:
    assert begun(f.text("a")).hang_up().methods[-1] == "session/cancel"


def test_what_an_abort_would_stop() -> None:
    played = Played()
    assert (played.protocol.abort_scope, list(played.protocol.abort())) == (AbortScope.NONE, [])
    played.tell(*f.OPENED)
    assert played.protocol.abort_scope is AbortScope.OURS
    played.protocol.client_detached()
    played.protocol.unwatched()
    played.protocol.mark_stale()
    assert played.protocol.tick(0).events == ()
    assert played.protocol.connect_request().method == "GET"


def test_requests_for_what_was_not_declared_are_refused() -> None:
    played = begun(f.message(id="x", method="fs/read_text_file", params={"path": "/etc/passwd"}))

    assert (played.sent[-1]["id"], played.sent[-1]["error"]["code"]) == ("x", -32601)
    early = Played(f.permission(5))
    assert early.sent[-1]["error"]["code"] == -32601


def test_life_is_told_from_silence() -> None:
    protocol = begun().protocol

    assert protocol.receive_frame(f.text("a"), 0) == "a"
    assert protocol.receive_frame(f.text(""), 0) == ALIVE
    assert protocol.receive_frame(f.update("usage_update"), 0) == ALIVE
    assert protocol.receive_frame(f.message(method="other"), 0) is None
    assert list(protocol.prepare_frame(f.text("a" * 100)))


@pytest.mark.parametrize("line", [b'{"level":"info"}', b'{"type":"of.a.log","id":1}'])
def test_a_line_that_is_no_message_is_no_known_frame(line: bytes) -> None:
    assert begun(line).protocol.frame_stats.malformed == 1


def test_what_cannot_be_read_is_counted() -> None:
    played = begun(*f.NOISE)
    stats = played.protocol.frame_stats

    assert played.kinds == ["start", "start-step"]
    assert (stats.malformed, stats.foreign) == (7, 3)
    assert set(stats.unrecognised) == {"new/notice", "fs/read_text_file", "new_update"}
