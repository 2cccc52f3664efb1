import pytest
from msgspec import Raw

from support.shown import brief, shown, started, tool
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.events import (
    AgentStatus,
    Approval,
    DataPart,
    Event,
    FilePart,
    Phase,
    Question,
    QuestionClosed,
    Queued,
    Reason,
    ReasoningDelta,
    ReplayStarted,
    ReplayUncertain,
    SourceUrl,
    TextBreak,
    TextDelta,
    ToolInputDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.ui_stream import sse
from turnwire.core.ui_stream.translator import State, Translator

SAID = TextDelta("a")
THOUGHT = ReasoningDelta("h")
ASKED = Question("q", Raw(b'{"text":"ok?"}'))
DONE = tool(Phase.COMPLETED, result=1)
RUNS = tool(Phase.RUNNING, args={})
END = TurnFinished(reason=Reason.END_TURN)
OPEN_Q = "data-question q {'text': 'ok?', 'questionId': 'q', 'state': 'open'}"
EXPIRED_Q = "data-question q {'text': 'ok?', 'questionId': 'q', 'state': 'expired'}"
LATE_C = ["tool-input-available c {}", "tool-output-available c 1"]


def finished(reason: Reason = Reason.END_TURN, **fields: str) -> TurnFinished:
    return TurnFinished(
        reason=reason, error=fields.get("error"), final_text=fields.get("final_text")
    )


@pytest.mark.parametrize(
    ("before", "event", "chunks"),
    [
        pytest.param([], SAID, ["text-start t:t0", "text-delta t:t0 a"], id="first text"),
        pytest.param([SAID], TextDelta("b"), ["text-delta t:t0 b"], id="more text"),
        pytest.param([], TextDelta(""), [], id="no text opens no block"),
        pytest.param([SAID], TextDelta(""), [], id="no text in a block"),
        pytest.param(
            [], THOUGHT, ["reasoning-start t:r0", "reasoning-delta t:r0 h"], id="first reasoning"
        ),
        pytest.param([THOUGHT], THOUGHT, ["reasoning-delta t:r0 h"], id="more reasoning"),
        pytest.param(
            [THOUGHT],
            SAID,
            ["reasoning-end t:r0", "text-start t:t0", "text-delta t:t0 a"],
            id="reasoning closes before text opens",
        ),
        pytest.param(
            [SAID, THOUGHT],
            SAID,
            ["reasoning-end t:r0", "text-start t:t1", "text-delta t:t1 a"],
            id="a new block has a new id",
        ),
        pytest.param(
            [SAID],
            tool(Phase.PENDING),
            ["text-end t:t0", "tool-input-start c"],
            id="a tool closes the text before it",
        ),
        pytest.param(
            [THOUGHT],
            tool(Phase.PENDING),
            ["reasoning-end t:r0", "tool-input-start c"],
            id="a tool closes the reasoning before it",
        ),
        pytest.param([RUNS, SAID], RUNS, [], id="a repeated tool state closes nothing"),
        pytest.param(
            [DONE],
            SAID,
            ["finish-step", "start-step", "text-start t:t0", "text-delta t:t0 a"],
            id="text after a finished tool stands in a new step",
        ),
        pytest.param(
            [DONE],
            THOUGHT,
            ["finish-step", "start-step", "reasoning-start t:r0", "reasoning-delta t:r0 h"],
            id="reasoning after a finished tool stands in a new step",
        ),
        pytest.param(
            [RUNS],
            SAID,
            ["text-start t:t0", "text-delta t:t0 a"],
            id="text while a tool runs stays in its step",
        ),
        pytest.param(
            [DONE, SAID, THOUGHT],
            SAID,
            ["reasoning-end t:r0", "text-start t:t1", "text-delta t:t1 a"],
            id="a step without tools is not ended by text",
        ),
        pytest.param([SAID], ASKED, ["text-end t:t0", OPEN_Q], id="a question closes open text"),
        pytest.param(
            [ASKED, SAID],
            QuestionClosed("q", expired=True),
            ["text-end t:t0", EXPIRED_Q],
            id="what follows an expired question stands below it",
        ),
        pytest.param([SAID], QuestionClosed("q"), [], id="no such question closes nothing"),
        pytest.param(
            [SAID],
            AgentStatus("thinking", "of \ud83d"),
            ["data-agent-status {'status': 'thinking', 'detail': 'of \ufffd'} True"],
            id="a status stands beside open text",
        ),
        pytest.param(
            [], Queued(), ["data-agent-status {'status': 'queued'} True"], id="queued is a status"
        ),
        pytest.param([SAID], TurnStarted("t2"), [], id="started over under another id"),
        pytest.param(
            [SAID, TurnStarted("t2\ud83d"), THOUGHT],
            SAID,
            ["reasoning-end t2\ufffd:r0", "text-start t2\ufffd:t1", "text-delta t2\ufffd:t1 a"],
            id="blocks of a turn started over have its id",
        ),
        pytest.param([], END, ["finish-step", "finish"], id="an empty turn"),
        pytest.param(
            [SAID], END, ["text-end t:t0", "finish-step", "finish"], id="end_turn closes text"
        ),
        pytest.param(
            [ASKED, RUNS, SAID],
            END,
            [
                *("text-end t:t0", EXPIRED_Q, "tool-output-error c No result"),
                *("finish-step", "finish"),
            ],
            id="end_turn leaves nothing open",
        ),
        pytest.param(
            [tool(Phase.PENDING)],
            END,
            [
                *("tool-input-available c {}", "tool-output-error c No result"),
                *("finish-step", "finish"),
            ],
            id="an output follows an input even at the end",
        ),
        pytest.param(
            [RUNS, SAID],
            finished(Reason.ERROR, error="it\nbroke\x1b"),
            [
                *("text-end t:t0", "tool-output-error c No result"),
                *("finish-step", "error it broke", "finish"),
            ],
            id="an error",
        ),
        pytest.param(
            [],
            finished(Reason.ERROR),
            ["finish-step", "error Turn failed", "finish"],
            id="an error without a text",
        ),
        pytest.param(
            [RUNS],
            finished(Reason.CANCELED),
            ["tool-output-error c Canceled", "finish-step", "abort", "finish"],
            id="a canceled turn",
        ),
        pytest.param(
            [SAID],
            finished(final_text="abc"),
            ["text-delta t:t0 bc", "text-end t:t0", "finish-step", "finish"],
            id="the missing tail of the whole text is sent",
        ),
        pytest.param(
            [SAID],
            finished(final_text="other"),
            ["text-end t:t0", "finish-step", "finish"],
            id="another final text is ignored",
        ),
        pytest.param(
            [SAID, DONE, TextDelta("b")],
            finished(final_text="bc"),
            ["text-delta t:t1 c", "text-end t:t1", "finish-step", "finish"],
            id="the missing tail of the text after the last tool is sent",
        ),
        pytest.param(
            [THOUGHT],
            finished(final_text="a"),
            [
                *("reasoning-end t:r0", "text-start t:t0", "text-delta t:t0 a", "text-end t:t0"),
                *("finish-step", "finish"),
            ],
            id="a final text that was not streamed at all is sent",
        ),
        pytest.param(
            [TextDelta("a\ud83d")],
            finished(final_text="a\U0001f600"),
            ["text-delta t:t0 \U0001f600", "text-end t:t0", "finish-step", "finish"],
            id="the tail brings the pair whose half was waiting",
        ),
        pytest.param(
            [TextDelta("a\ud83d")],
            finished(final_text="a\ud83d"),
            ["text-delta t:t0 \ufffd", "text-end t:t0", "finish-step", "finish"],
            id="a half that waits at the end is told once",
        ),
        pytest.param(
            [TextDelta("\ud83d")],
            TextDelta("\ude00\ud83d"),
            ["text-delta t:t0 \U0001f600"],
            id="a pair cut between two deltas is joined",
        ),
        pytest.param(
            [TextDelta("\ud83d")],
            TextDelta("b\ude00"),
            ["text-delta t:t0 \ufffdb\ufffd"],
            id="halves that stay alone become U+FFFD",
        ),
        pytest.param(
            [ReasoningDelta("\ud83d")],
            SAID,
            [
                *("reasoning-delta t:r0 \ufffd", "reasoning-end t:r0"),
                *("text-start t:t0", "text-delta t:t0 a"),
            ],
            id="a half of a block does not cross into the next",
        ),
    ],
)
def test_in_mid_turn(before: list[Event], event: Event, chunks: list[str]) -> None:
    assert brief(started(*before).feed(event)) == chunks


@pytest.mark.parametrize(
    ("event", "chunks"),
    [
        pytest.param(TurnStarted("t1"), ["start t1", "start-step"], id="the turn starts"),
        pytest.param(TurnStarted("\ud83d"), ["start \ufffd", "start-step"], id="an odd turn id"),
        pytest.param(ASKED, ["start", "start-step", OPEN_Q], id="a question opens the message"),
        pytest.param(
            AgentStatus("thinking"),
            ["data-agent-status {'status': 'thinking'} True"],
            id="a status may come before start",
        ),
        pytest.param(
            finished(Reason.ERROR, error="no"),
            ["start", "error no", "finish"],
            id="an error before the turn started",
        ),
        pytest.param(
            finished(Reason.CANCELED), ["start", "abort", "finish"], id="canceled before it started"
        ),
        pytest.param(SAID, [], id="text of no turn"),
        pytest.param(DONE, [], id="a tool of no turn"),
        pytest.param(QuestionClosed("q"), [], id="a question that nobody asked"),
    ],
)
def test_before_the_turn_starts(event: Event, chunks: list[str]) -> None:
    assert brief(Translator().feed(event)) == chunks


def test_a_tool_brings_all_that_is_missing_before_it() -> None:
    assert brief(started().feed(DONE)) == LATE_C


def test_a_turn_under_the_id_of_the_users_message_gets_another() -> None:
    translator = Translator(taken_id="t")

    assert brief(translator.feed(TurnStarted("t"))) == ["start t:answer", "start-step"]
    assert brief(translator.feed(SAID))[0] == "text-start t:answer:t0"


def test_a_turn_that_is_started_over_is_told_to_the_end_of_its_new_text() -> None:
    translator = started(TextDelta("First try. "), TurnStarted("t2"), TextDelta("Second"))

    told = brief(translator.feed(finished(Reason.END_TURN, final_text="Second try.")))

    assert told[0] == "text-delta t:t0  try."


@pytest.mark.parametrize("event", [SAID, DONE, ASKED, END, TurnStarted("x"), AgentStatus("idle")])
def test_nothing_comes_after_the_end(event: Event) -> None:
    translator = started(END)

    assert translator.state is State.CLOSED
    assert translator.feed(event) == []
    assert translator.fail("late") == []


def test_an_error_of_the_gateways_own_ends_the_turn() -> None:
    assert brief(started(SAID).fail("Stream interrupted")) == [
        *("text-end t:t0", "finish-step", "error Stream interrupted", "finish"),
    ]


@pytest.mark.parametrize(
    ("usage", "wanted", "finish"),
    [
        (Raw(b'{"totalTokens":3}'), False, {"type": "finish"}),
        (None, True, {"type": "finish"}),
        (Raw(b"3"), True, {"type": "finish"}),
        (
            Raw(b'{"totalTokens":3}'),
            True,
            {"type": "finish", "messageMetadata": {"usage": {"totalTokens": 3}}},
        ),
    ],
)
def test_usage_is_told_where_it_is_wanted_and_an_object(
    *, usage: Raw | None, wanted: bool, finish: dict[str, object]
) -> None:
    end = TurnFinished(reason=Reason.END_TURN, usage=usage)

    assert shown(started(usage=wanted).feed(end))[-1] == finish


@pytest.mark.parametrize(
    ("said", "block"),
    [([], None), ([THOUGHT], None), ([SAID], "t:t0"), ([TextDelta("\ud83d")], None)],
)
def test_the_text_block_takes_deltas_while_no_half_waits(
    said: list[Event], block: str | None
) -> None:
    assert started(*said).text_block == block


def test_half_a_pair_that_the_final_text_leaves_out_is_sent_even_so() -> None:
    translator = started(TextDelta("a\ud83d"))

    told = brief(translator.feed(finished(final_text="a")))

    assert told == ["text-delta t:t0 \ufffd", "text-end t:t0", "finish-step", "finish"]


@pytest.mark.parametrize(
    "event",
    [
        SAID,
        THOUGHT,
        DONE,
        ASKED,
        FilePart("data:,", "text/plain"),
        SourceUrl("s", "https://a.example/"),
        AgentStatus("thinking"),
        TextBreak(),
        ToolInputDelta("c", "bash", "{"),
        tool(Phase.RUNNING, result=1, preliminary=True),
        DataPart("s", None, Raw(b"1")),
        DataPart("s", "d", Raw(b"1"), transient=True),
        Queued(),
        *(finished(reason) for reason in Reason),
    ],
)
def test_what_the_client_has_of_a_turn_is_not_sent_again(event: Event) -> None:
    translator = Translator(client_copy=ClientCopy(message_id="m"))

    assert translator.feed(ReplayStarted("t")) == []
    assert translator.feed(event) == []


@pytest.mark.parametrize(
    ("pending", "late"),
    [
        pytest.param({"c"}, [], id="it was requested at the card of its call"),
        pytest.param(
            {"c", "q"},
            ["data-question q {'text': 'ok?', 'questionId': 'q', 'state': 'resolved'}"],
            id="it was sent as a question",
        ),
    ],
)
def test_a_request_that_is_closed_by_now_ends_as_what_the_client_has_of_it(
    pending: set[str], late: list[str]
) -> None:
    translator = Translator(client_copy=ClientCopy(message_id="m", pending=frozenset(pending)))
    translator.feed(ReplayStarted("t"))

    translator.feed_closed_request(ASKED, Approval("c", "bash"))
    translator.feed(QuestionClosed("q"))

    assert brief(translator.feed(ReplayUncertain())) == ["start m", *late]


def test_every_chunk_of_a_turn_can_be_written() -> None:
    odd = tool(Phase.ERROR, "\ud83d", "\ud83d", error="\ud83d")

    for chunk in started().feed(odd):
        sse.record(chunk).decode()
