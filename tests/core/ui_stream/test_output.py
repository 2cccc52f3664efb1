"""The UI message stream behind the port of outputs."""

import pytest
from msgspec import Raw

from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.events import (
    Approval,
    Event,
    Question,
    Reason,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.output import OutputProtocol
from turnwire.core.ui_stream import sse
from turnwire.core.ui_stream.output import HEADERS, StreamOptions, UIMessageStream

SIGNER = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")
QUESTION = Question("q1", Raw(b"{}"), Approval("c1", "t"))
TURN: list[Event] = [
    TurnStarted("turn"),
    *(TextDelta(text) for text in ("Hello ", "\ud83d", "\ude00 a", " world")),
    TurnFinished(reason=Reason.END_TURN),
]


def written(output: OutputProtocol, events: list[Event]) -> bytes:
    return b"".join(output.feed(event, 0) for event in events)


def begun(**options: object) -> UIMessageStream:
    output = UIMessageStream(StreamOptions(**options))  # type: ignore[arg-type]
    output.feed(TurnStarted("turn"), 0)
    return output


def issuer(*, native: bool) -> ApprovalIssuer:
    return ApprovalIssuer(signer=SIGNER, epoch=0, valid_s=60, native=native)


def test_its_headers_and_keepalive_are_those_of_the_protocol() -> None:
    output = UIMessageStream()

    assert output.headers == HEADERS
    assert dict(output.headers)[b"x-vercel-ai-ui-message-stream"] == b"v1"
    assert output.keepalive == sse.KEEPALIVE


def test_a_row_of_texts_opens_the_short_lane_for_the_next_row() -> None:
    output = begun()

    output.feed_texts(["Hello ", "world"], 0)

    assert output._lane is not None


@pytest.mark.parametrize("skip", [None, 0])
def test_texts_in_a_row_have_the_bytes_of_their_events(skip: int | None) -> None:
    one_by_one, in_a_row = (UIMessageStream(StreamOptions(skip=skip)) for _ in range(2))
    texts = [event.text for event in TURN if isinstance(event, TextDelta)]

    row = in_a_row.feed(TURN[0], 0) + in_a_row.feed_texts(texts, 0) + in_a_row.feed(TURN[-1], 0)

    assert row == written(one_by_one, TURN)
    assert row.endswith(sse.DONE)


def test_a_client_that_counts_gets_the_chunks_after_its_number() -> None:
    whole, rest = (UIMessageStream(StreamOptions(skip=skip)) for skip in (0, 3))
    all_records = written(whole, TURN).split(b"\n\n")

    assert written(rest, TURN) == b"\n\n".join(all_records[3:])
    assert rest.has_short_texts
    assert not UIMessageStream().has_short_texts


def test_after_its_end_it_writes_nothing() -> None:
    output = begun()
    assert output.fail("Agent stopped responding").endswith(sse.DONE)

    assert output.fail("again") == b""
    assert output.feed(TextDelta("late"), 0) == output.feed_texts(["late", "later"], 0) == b""


@pytest.mark.parametrize(
    ("approvals", "is_over", "chunk"),
    [
        (None, False, b'"type":"data-question"'),
        (issuer(native=False), False, b'"approvalId"'),
        (issuer(native=True), False, b'"type":"tool-approval-request"'),
        (issuer(native=True), True, b'"type":"tool-input-available"'),
    ],
)
def test_a_question_is_asked_as_the_client_understands_it(
    approvals: ApprovalIssuer | None,
    is_over: bool,  # noqa: FBT001 (a case)
    chunk: bytes,
) -> None:
    output = begun(approvals=approvals)

    records = output.ask(QUESTION, 0, is_over=is_over)

    is_requested = b"tool-approval-request" in chunk
    assert chunk in records
    assert output.is_waiting is is_requested
    assert output.can_pause is (approvals is not None and approvals.native)
    assert (b"tool-approval-request" in records) is is_requested


def test_a_turn_that_waits_is_paused_with_a_whole_message() -> None:
    output = begun(approvals=issuer(native=True))
    output.ask(QUESTION, 0, is_over=False)

    assert output.pause().endswith(sse.DONE)


def test_before_its_turn_an_approval_is_a_question() -> None:
    output = UIMessageStream(StreamOptions(approvals=issuer(native=True)))

    assert b'"type":"data-question"' in output.ask(QUESTION, 0, is_over=False)
