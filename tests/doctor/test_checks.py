"""What the times of a stream say; made-up times, no sockets."""

from pathlib import Path

import pytest

from turnwire.doctor import checks
from turnwire.doctor.capture import Capture, Piece
from turnwire.doctor.findings import AILMENTS, Code
from turnwire.doctor.proxies import Proxy, finding, recognise_proxy
from turnwire.doctor.token import date_symptoms, token_symptoms

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


def test_a_record_may_come_in_pieces() -> None:
    capture = stream((0.1, START[:20]), (0.2, START[20:] + DELTA[:5]))

    assert [(record.arrived_at, record.kind) for record in capture.records] == [(0.2, "start")]


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


@pytest.mark.parametrize(
    ("headers", "proxy"),
    [
        ({"server": "nginx/1.22.1"}, Proxy.NGINX),
        ({"server": "envoy"}, Proxy.ENVOY),
        ({"via": "1.1 Caddy"}, Proxy.CADDY),
        ({"server": "uvicorn"}, None),
        ({}, None),
    ],
)
def test_who_stands_in_front(headers: dict[str, str], proxy: Proxy | None) -> None:
    assert recognise_proxy(headers) is proxy


def test_the_line_to_change_is_the_proxys_own_or_everybodys() -> None:
    named = finding(Code.COALESCED, "seen", Proxy.HAPROXY)
    unnamed = finding(Code.COALESCED, "seen", None)
    without = finding(Code.TOKEN_EXPIRED, "seen", Proxy.HAPROXY)

    assert named.mend[0] == "haproxy: option http-no-delay"
    assert set(named.mend) < set(unnamed.mend)
    assert named.mend[-1] == unnamed.mend[0] == AILMENTS[Code.COALESCED].mend
    assert without.mend == (AILMENTS[Code.TOKEN_EXPIRED].mend,)


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


def test_every_code_is_explained() -> None:
    assert set(AILMENTS) == set(Code)


# A token is read, not verified: {"iat":1000,"nbf":1000,"exp":2000}, without a signature.
TOKEN = "e30.eyJpYXQiOjEwMDAsIm5iZiI6MTAwMCwiZXhwIjoyMDAwfQ.x"


@pytest.mark.parametrize(
    ("token", "now", "codes"),
    [
        (TOKEN, 1500, []),
        (TOKEN, 2000, [Code.TOKEN_EXPIRED]),
        (TOKEN, 996, []),
        (TOKEN, 900, [Code.CLOCK_SKEW, Code.CLOCK_SKEW]),
        ("opaque", 0, []),
        ("a.b.c", 0, []),
        ("a.!!.c", 0, []),
    ],
)
def test_what_a_token_says(token: str, now: float, codes: list[Code]) -> None:
    assert [code for code, _ in token_symptoms(token, now)] == codes


@pytest.mark.parametrize(
    ("date", "texts"),
    [
        ("Thu, 01 Jan 1970 00:16:40 GMT", []),
        ("Thu, 01 Jan 1970 00:17:40 GMT", ["the ingress is 60 s ahead of this machine"]),
        ("Thu, 01 Jan 1970 00:15:40 GMT", ["the ingress is 60 s behind this machine"]),
        ("yesterday", []),
        (None, []),
    ],
)
def test_what_a_date_says(date: str | None, texts: list[str]) -> None:
    assert [seen for _, seen in date_symptoms(date, 1000)] == texts


def test_every_code_is_in_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs/doctor.md").read_text(encoding="utf-8")

    assert {code for code in Code if f"`{code.value}`" not in page} == set()
