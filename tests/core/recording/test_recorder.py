"""What the flight recorder keeps, replayed: the same stream, or one of the same shape."""

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.recorded import PLENTY, RECORDINGS, dialect, recorded, run, shape
from support.serial_protocol import Serial, SerialDialect
from turnwire.core.recording.recorder import BadHeaderError, Recording, find_header, header, missing
from turnwire.core.recording.redact import Redactor, redactor_of
from turnwire.core.recording.replay import replay
from turnwire.core.requests import Channel, PromptRequest, QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    Drain,
    Held,
    Opened,
    Progressed,
    Replied,
    Tick,
    Unblocked,
    Unreachable,
)
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

V2 = DIALECTS["v2"]


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", RECORDINGS, ids=name)
def test_a_recording_replays_byte_for_byte(path: Path) -> None:
    stream, recording = run(path)

    assert stream == path.with_suffix(".sse").read_bytes()
    assert replay(recording.lines(redactor=None), dialect(path)) == stream


@pytest.mark.no_cover  # all recordings; the cases below reach the same lines
@pytest.mark.parametrize("path", RECORDINGS, ids=name)
def test_a_redacted_one_replays_to_the_same_chunks_of_the_same_lengths(path: Path) -> None:
    stream, recording = run(path)

    lines = list(recording.lines(redactor=redactor_of(dialect(path).schema)))

    assert shape(replay(lines, dialect(path))) == shape(stream)


@pytest.mark.no_cover  # all recordings; the cases below reach the same lines
def test_nothing_that_was_said_is_in_a_redacted_one() -> None:
    for path in RECORDINGS:
        _, recording = run(path)
        lines = recording.lines(redactor=redactor_of(dialect(path).schema))
        for text in _TEXTS.findall(b"\n".join(lines).decode()):
            plain = "" if text == "/status" else re.sub(r"\\u[0-9a-f]{4}|\\.", "", text)
            assert {c for c in plain if c.isalnum()} <= set("xø字\U0001d465")


_TEXTS = re.compile(r'"(?:delta|content|finalText|text)":"((?:[^"\\\\]|\\\\.)*)"')


def test_the_beginning_and_the_end_are_kept_and_what_is_lost_is_said() -> None:
    lines = [f.begin(), *(f.part(f"word {number}") for number in range(1000)), f.finalize()]
    _, recording = recorded(lines, V2, most_bytes=8_000)

    kept = list(recording.lines(redactor=None))

    assert b"word 0" in b"".join(kept)
    assert b"word 999" in b"".join(kept)
    assert b"word 500" not in b"".join(kept)
    assert sum(map(len, kept)) < 9_000
    (lack,) = missing(kept)
    lost, lost_bytes = (int(word) for word in lack.split() if word.isdigit())
    shown = sum(1 for line in kept if b"word" in line)
    assert shown + lost == 1000
    assert lost_bytes > 50 * lost
    assert replay(kept, V2).endswith(b"[DONE]\n\n")


def test_a_frame_that_is_longer_than_all_is_lost_alone() -> None:
    _, recording = recorded([f.begin(), f.part("x" * 9_000), f.part("b")], V2, most_bytes=8_000)

    kept = list(recording.lines(redactor=None))

    assert missing(kept) == [f"1 frames, {len(f.part('x' * 9_000))} bytes"]
    assert f.part("b") in kept


@pytest.mark.parametrize(
    "odd",
    [b"#! close", b"# a note", b"", b" {", b'"{}"', b"[1]", b"\xc3\xa9", b'{"a":\n1}', b"{\r"],
)
def test_a_frame_that_looks_like_something_else_is_still_a_frame(odd: bytes) -> None:
    turn, recording = begun()
    turn.frames([f.begin(), odd, f.part("a")], 1)
    turn.frames([f.finalize()], 2)

    lines = list(recording.lines(redactor=None))

    assert b'"delta":"a"' in replay(lines, V2)
    assert b"interrupted" not in replay(lines, V2)
    assert len(b"\n".join(lines).splitlines()) == len(lines)


def test_what_a_stream_writes_takes_no_room() -> None:
    _, recording = recorded([f.begin(), *(f.part("x" * 9_000) for _ in range(100))], V2, 8_000)

    assert len(pickle.dumps(recording)) < 10_000


def begun(
    asked: PromptRequest | ResumeRequest | None = None, **limits: Any
) -> tuple[Turn, Recording]:
    ask = asked or PromptRequest(text="Hi you", prompt_id="p1", user_id="ann@a.example")
    lived = Limits(**limits)
    conversation = V2.prompt(ask) if isinstance(ask, PromptRequest) else V2.resume(ask)
    recording = Recording(header(ask, dialect="v2", limits=lived), PLENTY)
    turn = Turn(conversation, lived, UIMessageStream(), observers=[recording])
    turn.handle(Opened(), 0)
    return turn, recording


def test_everything_that_may_happen_is_replayed() -> None:
    turn, recording = begun(
        backlog_bytes=100, expires_at=60.0, keepalive_s=3.0, on_disconnect="continue"
    )
    acts = [turn.frames([f.begin(), f.part("a")], 1.25)]
    acts += [
        turn.handle(Tick(), 4.3),
        turn.handle(Blocked(), 5),
        turn.handle(Progressed(50), 6),
        turn.handle(Held(60), 6.5),
    ]
    acts += [
        turn.handle(Unblocked(), 7),
        turn.handle(Drain(), 8),
        turn.handle(Tick(), 9),
        turn.handle(Held(1_000), 10),
    ]
    acts += [
        turn.handle(ClientLeft(), 10),
        turn.handle(AgentLeft(), 11),
        turn.handle(Unreachable(), 12),
    ]

    lines = list(recording.lines(redactor=None))
    told = [line.decode()[3:] for line in lines if line.startswith(b"#! ")]

    assert [line.split()[0] for line in told if not line.startswith("at ")] == [
        *("stream", "opened", "tick", "blocked", "progressed", "held", "unblocked", "drain"),
        *("tick", "held", "leave", "close", "unreachable"),
    ]
    assert "progressed 50" in told
    assert "at 1.250000" in told
    opened = replay(lines, V2)[: -len(b"".join(act.to_client for act in acts))]
    assert replay(lines, V2) == opened + b"".join(act.to_client for act in acts)
    assert b"Client too slow" in replay(lines, V2)


def answered(**reply: Any) -> tuple[Recording, bytes]:
    """A turn that waited for this answer without a connection, and went on; and what it wrote."""
    ask = PromptRequest(text="Hi", prompt_id="p1")
    recording = Recording(header(ask, dialect="serial", limits=Limits()), PLENTY)
    turn = Turn(Serial(), Limits(), UIMessageStream(), observers=[recording])
    outputs = [turn.handle(Opened(), 0), turn.frames([b"ask"], 1), turn.handle(AgentLeft(), 2)]
    replied = Replied(QuestionReply("q1", **reply), "ann@a.example")
    outputs += [turn.handle(replied, 3), turn.handle(Opened(), 4), turn.frames([b"end"], 5)]
    return recording, b"".join(output.to_client for output in outputs)


ANSWER = Raw(b'{"text": "my secret Word"}')


def test_an_answer_beside_the_stream_is_replayed() -> None:
    recording, written = answered(answer=ANSWER, subject=b"s")
    lines = list(recording.lines(redactor=None))

    assert replay(lines, SerialDialect()) == written
    assert b"my secret Word" in written
    assert b'"finish"' in written


def test_an_answer_and_who_gave_it_are_redacted_and_secrets_are_masked() -> None:
    recording, _ = answered(answer=ANSWER, subject=b"s")

    (line,) = [
        line for line in recording.lines(redactor=Redactor()) if line.startswith(b"#! replied")
    ]
    assert line == (
        b'#! replied {"questionId":"q1","answer":{"xxxx": "xx xxxxxx xxxx"},'
        b'"userId":"n1xxxxxxxxxxx"}'
    )
    masked = b"".join(recording.lines(redactor=None, secrets=[b"my secret"]))
    assert b'"answer":{"text": "xxxxxxxxx Word"}' in masked
    assert b'"subject":"cw=="' in masked


def test_answers_count_against_the_size_of_a_recording() -> None:
    recording = Recording(
        header(PromptRequest(text="", prompt_id="p1"), dialect="serial", limits=Limits()), 1_000
    )
    long = Raw(b'"%b"' % (b"x" * 2_000))

    recording.on_input(Replied(QuestionReply("q1", long), "u1"), 0)

    assert b"x" * 2_000 not in b"".join(recording.lines(redactor=None))


def test_a_turn_that_waits_at_the_end_of_a_recording_is_cut() -> None:
    lines = [b"ask", b"#! close"]

    assert b"Stream interrupted" in replay([frame_line(line) for line in lines], SerialDialect())


def frame_line(line: bytes) -> bytes:
    return line if line.startswith(b"#") else b'#! frame "%b"' % line


def test_an_agent_that_cannot_be_dialled_is_replayed() -> None:
    ask = PromptRequest(text="Hi", prompt_id="p1")
    recording = Recording(header(ask, dialect="v2", limits=Limits()), PLENTY)
    turn = Turn(V2.prompt(ask), Limits(), UIMessageStream(), observers=[recording])
    written = turn.handle(Unreachable(), 3).to_client

    assert replay(recording.lines(redactor=None), V2) == written
    assert b"Connection failed" in written


def test_what_was_asked_is_in_the_first_line_and_its_secrets_are_not() -> None:
    ask = PromptRequest(
        text="The code is 1234",
        prompt_id="p1",
        user_id="ann@a.example",
        channel=Channel("my phone", "+49 30"),
        client_message_id="m 1",
    )
    limits = Limits(expires_at=30.0)
    options = StreamOptions(taken_id="m 1", event_lines=False, usage=True)
    recording = Recording(header(ask, dialect="v2", limits=limits, options=options), PLENTY)
    recording.on_input(Opened(), 10.0)
    recording.on_output(Output(to_agent=[b'{"content":"The code is 1234"}', b"x" * 5_000]), 10.0)

    whole = list(recording.lines(redactor=None, notes=["a note"], lacks=["a thing"]))
    redacted = list(recording.lines(redactor=redactor_of(V2.schema)))
    blotted = list(recording.lines(redactor=None, secrets=[b"1234", b""]))

    told = find_header(whole)
    assert told is not None
    assert told.prompt_request() == ask
    assert (told.limits.expires_at, told.event_lines, told.usage) == (20.0, False, True)
    assert whole[1:3] == [b"# a note", b"#! missing a thing"]
    assert whole[-1] == b"# told 5000 bytes"
    told = find_header(redacted)
    assert told is not None
    assert (told.text, told.user_id) == ("xxx xxxx xx xxxx", "n1xxxxxxxxxxx")
    assert (told.channel_type, told.channel_id) == ("xx xxxxx", "n2xxxx")
    assert (told.client_message_id, told.taken_id) == ("n3x", "n3x")
    assert redacted[-2] == b'# told {"content":"xxx xxxx xx xxxx"}'
    assert b"1234" not in b"".join(blotted)
    assert b"The code is xxxx" in blotted[0]


def test_nobody_is_nobody_in_a_redacted_one() -> None:
    told = header(PromptRequest(text="", prompt_id="p1"), dialect="v2", limits=Limits())

    assert told.redacted(redactor_of(V2.schema)) == told


def test_a_stream_that_was_resumed_says_so() -> None:
    look = ResumeRequest(user_id="u", init_s=3.0, prompt_id="p9", channel=Channel("web", "c"))
    turn, recording = begun(look)
    turn.frames([f.init()], 1)

    told = find_header(recording.lines(redactor=None))

    assert told is not None
    assert told.resume_request() == look
    assert replay(recording.lines(redactor=None), V2) == b""


def test_a_recording_of_nothing_is_one_line() -> None:
    recording = Recording(
        header(PromptRequest(text="", prompt_id="p"), dialect="v2", limits=Limits()), PLENTY
    )

    (line,) = recording.lines(redactor=None)

    assert find_header([line]) is not None
    assert find_header([b"{}"]) is None


@pytest.mark.parametrize(
    "line",
    [b"#! stream {", b"#! stream {}", b'#! stream "\xff"', b'#! stream {"a":' + b"[" * 5_000],
)
def test_a_first_line_that_cannot_be_read_is_refused(line: bytes) -> None:
    with pytest.raises(BadHeaderError, match="cannot be read"):
        replay([line], V2)
