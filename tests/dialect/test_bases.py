"""What the bases bring, so that a small wire is little code."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Raw

from turnwire.dialect import (
    LONG_BYTES,
    AbortScope,
    ConnectRequest,
    Decoded,
    Dialect,
    OneResponse,
    PromptRequest,
    PromptsOnly,
    Reason,
    RejectedError,
    ResumeRequest,
    TextDelta,
    TooManyError,
    TurnFinished,
    TurnStarted,
    WireSchema,
)


class Turn(OneResponse):
    def connect_request(self) -> ConnectRequest:
        return ConnectRequest()

    def receive_frame(self, frame: bytes, _now: float) -> str:
        return frame.decode()


class Small(PromptsOnly):
    name = "small"
    schema = WireSchema(frames=())

    def prompt(self, request: PromptRequest, _member: Any = None) -> Turn:
        return Turn(request.prompt_id)


SMALL: Dialect = Small()


def begun() -> Turn:
    turn = Turn("p1")
    assert turn.abort_scope is AbortScope.OURS
    return turn


def test_a_turn_begins_when_the_agent_answers() -> None:
    assert begun().connection_opened(0.0) == Decoded([TurnStarted("p1")])


def test_a_turn_that_is_over_is_not_aborted() -> None:
    turn = begun()

    assert turn.finished(TextDelta("x")) == Decoded(
        [TextDelta("x"), TurnFinished(reason=Reason.END_TURN)]
    )
    assert turn.abort_scope is AbortScope.NONE
    assert turn.abort() == ()


def test_an_end_has_the_counts_of_tokens() -> None:
    usage = Raw(b'{"inputTokens":1}')

    assert begun().finished(usage=usage) == Decoded(
        [TurnFinished(reason=Reason.END_TURN, usage=usage)]
    )


def test_a_turn_with_an_error_is_one_that_failed() -> None:
    failed = Decoded([TurnFinished(reason=Reason.ERROR, error="no")])

    assert begun().finished(error="no") == failed
    assert begun().finished(reason=Reason.CANCELED, error="no") != failed


def test_a_response_that_ends_without_its_end_is_an_interrupted_turn() -> None:
    assert begun().connection_lost(0.0) is None


def test_nothing_else_changes_a_turn() -> None:
    turn = begun()
    turn.client_detached()
    turn.unwatched()
    turn.mark_stale()
    turn.forget()

    assert turn.tick(0.0) == Decoded()
    assert turn.begin_stop(0.0) is None
    assert (turn.accepted, turn.queued, turn.has_other_watchers) == (True, False, False)
    assert turn.kept_bytes == 0


def values(of: Iterator[None]) -> int:
    return sum(1 for _ in of)


def test_the_values_of_a_long_frame_are_counted_as_deep_as_they_are_decoded() -> None:
    many = b"[" + b",".join([b"1"] * 160_000) + b"]"
    deep = b"[[[[" + many + b"]]]]"
    assert len(many) > LONG_BYTES

    assert values(begun().prepare_frame(deep)) > 1
    with pytest.raises(TooManyError):
        values(begun().prepare_frame(many))


def test_a_wire_without_questions_refuses_answers() -> None:
    with pytest.raises(RejectedError, match="the question is closed"):
        SMALL.resume(ResumeRequest(user_id="u", init_s=1.0))


@pytest.mark.parametrize("method", ["stop", "answer", "read_history", "write_message"])
def test_what_a_wire_does_not_have_is_never_called(method: str) -> None:
    with pytest.raises(NotImplementedError):
        getattr(SMALL, method)(None)
