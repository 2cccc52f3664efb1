"""What the times of a stream say; made-up times, no sockets."""

import pytest

from turnwire.doctor import checks
from turnwire.doctor.capture import Capture, Piece
from turnwire.doctor.findings import Code

KEEPALIVE = b": keepalive\n\n"
START = b'event: message-start\ndata: {"type":"start"}\n\n'
DELTA = b'data: {"type":"text-delta","id":"t0","delta":"x"}\n\n'
FINISH = b'data: {"type":"finish"}\n\ndata: [DONE]\n\n'


def stream(
    *pieces: tuple[float, bytes], ended_at: float | None = None, is_broken: bool = False
) -> Capture:
    """Asked at 0, with a head at 0.1 s."""
    capture = Capture(0.0, 0.1)
    capture.pieces = [Piece(at, data) for at, data in pieces]
    capture.ended_at, capture.is_broken = ended_at, is_broken
    return capture


def deltas(
    count: int, every_s: float, at_once: int = 1, begin_s: float = 0.2
) -> list[tuple[float, bytes]]:
    return [(begin_s + n * every_s, DELTA * at_once) for n in range(count // at_once)]


HEAD = (0.1, KEEPALIVE + START)

WHOLE = stream(HEAD, *deltas(60, 0.03), (2.1, FINISH), ended_at=2.1)


@pytest.mark.parametrize(
    ("capture", "codes"),
    [
        pytest.param(WHOLE, [], id="as it should be"),
        pytest.param(stream(HEAD, *deltas(60, 0.03)), [Code.UNFINISHED], id="not over in time"),
        pytest.param(
            stream(HEAD, (0.2, DELTA * 40), (0.3, FINISH), ended_at=0.3),
            [],
            id="an agent that is fast once",
        ),
        pytest.param(
            stream(
                HEAD,
                *(each for n in range(6) for each in deltas(40, 0.003, begin_s=0.2 + n * 0.135)),
                (1.1, FINISH),
                ended_at=1.1,
            ),
            [],
            id="an agent that is fast all along",
        ),
        pytest.param(
            stream(
                HEAD,
                *(each for n in range(20) for each in deltas(6, 0.005, begin_s=0.2 + n * 0.1)),
                (2.3, FINISH),
                ended_at=2.3,
            ),
            [Code.COALESCED],
            id="bunches that take their time",
        ),
        pytest.param(
            stream((2.0, KEEPALIVE + START + DELTA * 20 + FINISH), ended_at=2.0),
            [Code.BUFFERED],
            id="all at once and late",
        ),
        pytest.param(
            stream((0.2, KEEPALIVE + START + DELTA * 20 + FINISH), ended_at=0.2),
            [Code.INCONCLUSIVE],
            id="all at once and soon",
        ),
        pytest.param(
            stream(
                (0.4, KEEPALIVE + START), *deltas(20, 0.03, begin_s=0.5), (2.0, FINISH), ended_at=2
            ),
            [Code.FIRST_BYTE_LATE],
            id="a head alone",
        ),
        pytest.param(
            stream(HEAD, *deltas(60, 0.2, at_once=5), (3.0, FINISH), ended_at=3.0),
            [Code.COALESCED],
            id="in bunches",
        ),
        pytest.param(
            stream(HEAD, (1.0, DELTA), (2.0, FINISH), ended_at=2.0), [Code.INCONCLUSIVE], id="few"
        ),
        pytest.param(
            stream(HEAD, *deltas(20, 0.03), ended_at=60.8, is_broken=True),
            [Code.CUT_IN_SILENCE],
            id="cut in a silence",
        ),
        pytest.param(stream(HEAD, *deltas(20, 0.03), ended_at=0.8), [Code.CUT_SHORT], id="cut"),
        pytest.param(stream(ended_at=0.1), [Code.CUT_SHORT], id="nothing but a head"),
        pytest.param(
            stream(HEAD, *deltas(20, 0.03), (30.0, FINISH), ended_at=30.0),
            [Code.KEEPALIVES_LOST],
            id="a silence without keepalives",
        ),
        pytest.param(
            stream(
                HEAD, *deltas(20, 0.03), (1.0, b'data: {"type":"error"}\n\n' + FINISH), ended_at=1.0
            ),
            [Code.TURN_FAILED],
            id="an error of the agent",
        ),
        pytest.param(
            stream(
                HEAD, (0.2, b"data: {{\n\ndata: []\n\ndata: 7\n\n"), *deltas(20, 0.03, begin_s=0.3)
            ),
            [Code.UNFINISHED],
            id="records of nobody",
        ),
    ],
)
def test_what_the_times_say(capture: Capture, codes: list[Code]) -> None:
    assert [code for code, _ in checks.arrival_symptoms(capture, "r1")] == codes


GOOD = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-accel-buffering": "no",
    "x-request-id": "r1",
}


@pytest.mark.parametrize(
    ("changed", "codes"),
    [
        ({}, []),
        ({"content-type": "text/html"}, [Code.WRONG_TYPE]),
        ({"cache-control": "max-age=60"}, [Code.TRANSFORMABLE]),
        ({"x-vercel-ai-ui-message-stream": None}, [Code.UNMARKED]),
        ({"x-accel-buffering": None}, [Code.BUFFERING_ALLOWED]),
        ({"content-encoding": "gzip"}, [Code.ENCODED]),
        ({"x-request-id": "another"}, [Code.REQUEST_ID]),
        ({"x-request-id": None}, [Code.REQUEST_ID]),
    ],
)
def test_what_the_head_says(changed: dict[str, str | None], codes: list[Code]) -> None:
    headers = {name: value for name, value in {**GOOD, **changed}.items() if value is not None}

    assert [code for code, _ in checks.header_symptoms(headers, "r1")] == codes


HELD = [
    stream(HEAD, *deltas(60, 0.3, 5), (4.0, FINISH), ended_at=4.0),
    stream((2.0, KEEPALIVE + START + DELTA * 60 + FINISH), ended_at=2.0),
]


@pytest.mark.parametrize("capture", HELD, ids=["in bunches", "at once"])
def test_what_a_busy_doctor_sees_is_no_finding(capture: Capture) -> None:
    (well,) = [code for code, _ in checks.arrival_symptoms(capture, "r1")]
    capture.max_delay_s = capture.total_delay_s = 1.0
    (busy,) = [code for code, _ in checks.arrival_symptoms(capture, "r1")]

    assert well in {Code.COALESCED, Code.BUFFERED}
    assert busy is Code.BUSY


def test_a_first_byte_is_no_later_than_the_doctor() -> None:
    capture = stream((0.6, KEEPALIVE + START), *deltas(60, 0.03, begin_s=0.7), (2.6, FINISH))
    codes = []
    for delay_s in (0.0, 0.1, 0.4):
        capture.max_delay_s = capture.total_delay_s = delay_s
        codes.append(next(code for code, _ in checks.arrival_symptoms(capture, "r1")))

    assert codes == [Code.FIRST_BYTE_LATE, Code.FIRST_BYTE_LATE, Code.BUSY]
