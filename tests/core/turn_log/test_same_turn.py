"""What a reader gets is the turn as it was: joined at any moment, in any reads, with any end."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import Any, Final

from msgspec import Raw

from support.scripted_protocol import Scripted
from support.seeds import each_seed
from turnwire.core import events
from turnwire.core.agent import Decoded
from turnwire.core.events import (
    Event,
    Phase,
    Question,
    QuestionClosed,
    Reason,
    TextDelta,
    ToolUpdate,
    TurnFinished,
)
from turnwire.core.requests import ResumeRequest
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Drain, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import Head, Joined, frame, pack
from turnwire.core.turn_log.protocol import ReaderOutput, ReaderProtocol
from turnwire.core.turn_log.tee import Tee
from turnwire.core.ui_stream import sse
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.testing.client_model import Client, read

TEXTS: Final = ("a", " b", "\n\n", "é\u2028", "\ud83d", "\ude00", "", "long " * 30)
VALUES: Final = (None, Raw(b"{}"), Raw(b"null"), Raw(b'{"__proto__":1}'))
ENDINGS: Final = (*Reason, "left", "gone", "silent", "drained", "crashed")
LIMITS: Final = Limits(drain_s=1, idle_s=500, tool_silence_s=500, question_wait_s=500)


def any_event(dice: Random, *, asks: bool) -> Event:
    call, question = dice.choice(["c1", "c2"]), dice.choice(["q1", "q2"])
    made: list[Event] = [
        *[TextDelta(dice.choice(TEXTS)) for _ in range(6)],
        events.ReasoningDelta(dice.choice(TEXTS)),
        ToolUpdate(
            call_id=call,
            tool_name="x",
            phase=dice.choice(list(Phase)),
            args=dice.choice(VALUES),
            result=dice.choice(VALUES),
        ),
        events.TextBreak(),
        events.TextSwitch(dice.choice("ab"), dice.choice("ab")),
        events.ToolInputDelta(call, "x", dice.choice(["{", "}", "1"])),
        events.DataPart("chart", dice.choice([None, "d1"]), Raw(b"{}"), dice.random() < 0.5),
        ToolUpdate(
            call_id=call, tool_name="x", phase=Phase.RUNNING, result=Raw(b"1"), preliminary=True
        ),
        events.FilePart("https://a.example/", "image/png"),
        events.AgentStatus("busy"),
    ]
    if asks:
        made += [Question(question, Raw(b'{"text":"ok?"}')), QuestionClosed(question)]
        made += [QuestionClosed(question, answer=Raw(b"1")), events.TurnStarted("t2")]
    return dice.choice(made)


class Log:
    """Every entry of the turn, apart, and how the turn ended for its client."""

    def __init__(self, dice: Random, options: StreamOptions, *, asks: bool) -> None:
        self.pieces: list[bytes] = []
        self.tee = Tee(UIMessageStream(options), self)
        decoded = [
            made.text
            if isinstance(made := any_event(dice, asks=asks), TextDelta)
            else Decoded([made])
            for _ in range(dice.randrange(25))
        ]
        self.ending = dice.choice(ENDINGS)
        if isinstance(self.ending, Reason):
            decoded.append(Decoded([TurnFinished(reason=self.ending, final_text="a b")]))
        self.turn = Turn(Scripted(decoded), LIMITS, self.tee)
        self.body = self.turn.handle(Opened(), 0).to_client
        for number in split(dice, len(decoded)):
            self.body += self.turn.frames([b""] * number, 1).to_client
        match self.ending:
            case "left":
                self.body += self.turn.handle(AgentLeft(), 2).to_client
            case "gone":
                self.turn.handle(ClientLeft(), 2)
            case "silent":
                self.body += self.turn.handle(Tick(), 900).to_client
            case "drained":
                self.turn.handle(Drain(), 2)
                self.body += self.turn.handle(Tick(), 4).to_client
            case _:
                pass
        self.tee.end(self.turn.outcome)

    def over(self) -> None: ...

    def paused(self) -> None: ...

    def failed(self) -> None: ...

    def append_texts(self, texts: Sequence[str]) -> None:
        self.append(entries.pack_texts(texts), len(texts))

    def append(self, packed: bytes, count: int) -> None:
        rows = entries.read(frame(packed, count))
        assert len(rows) == count
        self.pieces += [pack(entry) for entry in rows]


def split(dice: Random, count: int) -> Iterator[int]:
    """Lengths of random pieces of so many."""
    cuts = sorted({0, count, *(dice.randrange(count + 1) for _ in range(dice.randrange(9)))})
    return (stop - start for start, stop in pairwise(cuts))


def framed(pieces: Iterable[bytes]) -> bytes:
    rows = list(pieces)
    return frame(b"".join(rows), len(rows))


def read_again(log: Log, dice: Random, options: StreamOptions) -> bytes:
    """The stream of a reader that joins at any moment."""
    backlog = dice.randrange(len(log.pieces) + 1)
    protocol = ReaderProtocol(ResumeRequest(user_id="u", init_s=1))
    turn = Turn(protocol, LIMITS, ReaderOutput(UIMessageStream(options), protocol))
    body = turn.handle(Opened(), 0).to_client
    closed = [end for end in entries.closed_questions([framed(log.pieces[:backlog])]) if end]
    body += turn.frames(
        [entries.opening(pack(Head("p", "u")), Joined(backlog), closed)], 0
    ).to_client
    rest = list(log.pieces)
    frames = []
    for number in [*split(dice, backlog), *split(dice, len(rest) - backlog)]:
        frames.append(framed(rest[:number]))
        del rest[:number]
    while frames:
        if dice.random() < 0.2:
            for output in turn.long_frame(frames.pop(0), 1):
                body += output.to_client
        else:
            number = dice.randrange(1, 4)
            body += turn.frames(frames[:number], 1).to_client
            del frames[:number]
    assert turn.outcome is not None
    return body


def seen(client: Client) -> tuple[Any, ...]:
    return client.message_id, client.parts, client.verdict, client.metadata


@each_seed(300)
def test_a_reader_sees_the_turn_as_it_was(*, seed: int) -> None:
    dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
    options = StreamOptions(usage=True)
    log = Log(dice, options, asks=True)
    first = read(read_again(log, dice, options))
    if log.ending not in {"gone", "crashed"}:
        assert seen(first) == seen(read(log.body))
    for _ in range(3):
        assert seen(read(read_again(log, dice, options))) == seen(first)


@each_seed(200)
def test_a_client_that_counts_its_chunks_counts_the_same(*, seed: int) -> None:
    dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
    log = Log(dice, StreamOptions(skip=0), asks=False)
    again = records(read_again(log, dice, StreamOptions(skip=0)))

    assert log.ending in {"gone", "crashed"} or again == records(log.body)


def records(body: bytes) -> list[bytes]:
    return [record for record in body.split(b"\n\n") if record and not record.startswith(b":")]


def test_without_questions_the_bytes_are_the_same() -> None:
    dice = Random(7)  # noqa: S311 (any numbers)
    for _ in range(50):
        log = Log(dice, StreamOptions(), asks=False)
        if log.ending in {"gone", "crashed"}:
            continue
        assert read_again(log, dice, StreamOptions()) == log.body
        assert log.body.startswith(sse.KEEPALIVE)
