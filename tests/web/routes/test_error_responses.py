"""Every request that is refused gets its status, and costs the agent no connection."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette

from gateway import refusals
from gateway.asgi import Exchange
from gateway.refusals import CODES, GOOD_BODY, Refusal, every
from gateway.running import settings
from turnwire.relay.agent.dialer import Address, Dialler, Socket
from turnwire.relay.agent.failures import DialError, DialFailure
from turnwire.web.app import create_app


class NoAgent(Dialler):
    """Counts the dials, and lets none through."""

    def __init__(self) -> None:
        super().__init__(user_timeout_s=1)
        self.dials = 0

    async def dial(self, address: Address, new_socket: Callable[[], Socket]) -> Socket:
        del address, new_socket
        self.dials += 1
        raise DialError(DialFailure.CONNECT)


@pytest.fixture
def agent() -> NoAgent:
    return NoAgent()


@pytest.fixture
def app(agent: NoAgent) -> Starlette:
    return create_app(settings(), dialler=agent)


def exchange(app: Starlette, refusal: Refusal) -> Exchange:
    return Exchange(
        app,
        method=refusal.method,
        path=refusal.path,
        query=refusal.query,
        headers=refusals.headers(refusal),
        body=[refusal.body],
    )


@pytest.mark.parametrize("refusal", every(), ids=lambda refusal: refusal.name)
@pytest.mark.attack(
    "every malformed, unsigned or misdirected request of a long table",
    "its status, in fixed words; the agent is not dialled",
)
async def test_a_request_is_refused(refusal: Refusal, app: Starlette, agent: NoAgent) -> None:
    done = await exchange(app, refusal).run()

    assert done.status == refusal.status
    assert agent.dials == 0
    assert done.headers["cache-control"] == "no-store"
    assert done.headers["x-content-type-options"] == "nosniff"
    assert done.headers["content-type"] == "application/json"
    assert int(done.headers["content-length"]) < 300
    if refusal.method != "HEAD":
        assert set(done.json) == {"error", "code", "requestId"}
        assert done.json["code"] == CODES[refusal.status]
        assert done.json["requestId"] == done.headers["x-request-id"]
        assert "secret" not in done.body.decode()


async def test_the_request_that_all_of_them_spoil_is_good(app: Starlette, agent: NoAgent) -> None:
    done = await exchange(app, Refusal("none at all", 200)).run()

    assert done.status == 200
    assert agent.dials == 1


async def test_absent_malformed_and_not_yours_are_one_answer(app: Starlette) -> None:
    bodies = []
    for refusal in [*refusals.NO_SUCH]:
        done = await exchange(app, refusal).run()
        headers = {k: v for k, v in done.headers.items() if k != "x-request-id"}
        bodies.append((done.status, headers, {**done.json, "requestId": ""}))

    assert all(body == bodies[0] for body in bodies)


CUMULATIVE: dict[int, dict[str, Any]] = {
    405: {"method": "PUT"},
    401: {"authorization": ["Bearer x"]},
    404: {"path": refusals.session("not-mine")},
    415: {"headers": {"content-type": "image/png", "content-length": str(17 * 1_048_576)}},
    413: {"headers": {"content-length": str(17 * 1_048_576)}},
    400: {"body": b"{", "query": "channelId="},
}


@pytest.mark.parametrize("status", list(CUMULATIVE))
async def test_the_checks_come_in_their_order(status: int, app: Starlette) -> None:
    """The request has this fault and all that are looked for later."""
    faults: dict[str, Any] = {}
    for later in [*CUMULATIVE][::-1][: [*CUMULATIVE][::-1].index(status) + 1]:
        faults |= CUMULATIVE[later]

    done = await exchange(app, Refusal("all at once", status, **faults)).run()

    assert done.status == status


@pytest.mark.parametrize("status", [401, 404, 415, 413])
@pytest.mark.attack("a large body without a token", "it is not read")
async def test_the_body_is_not_read_before_the_request_is_accepted(
    status: int, app: Starlette
) -> None:
    done = await exchange(app, Refusal("x", status, **CUMULATIVE[status])).run()

    assert done.read == 0


@pytest.mark.attack("a body without a length that grows", "413 at the limit; the rest is not read")
async def test_a_body_that_grows_too_large_is_refused_without_its_rest(app: Starlette) -> None:
    piece = b" " * 1_048_576
    headers = [(k, v) for k, v in refusals.headers(Refusal("", 0)) if k != "content-length"]
    done = await Exchange(app, headers=headers, body=[piece] * 40).run()

    assert done.status == 413
    assert done.read == 17


@pytest.mark.parametrize("length", ["-1", "1e3", "0x10", "9" * 30, "0" * 5000 + "1", " "])
async def test_a_content_length_that_is_no_number_is_refused(length: str, app: Starlette) -> None:
    refusal = Refusal("", 413, headers={"content-length": length})
    done = await exchange(app, refusal).run()

    assert done.status == 413


async def test_a_body_may_come_in_pieces_and_its_type_in_any_case(
    app: Starlette, agent: NoAgent
) -> None:
    headers = [
        ("content-type", "Application/JSON ; charset=UTF-8"),
        ("content-encoding", "identity"),
    ]
    headers += [("authorization", f"bEARER   {refusals.good()} ")]
    pieces = [GOOD_BODY[i : i + 1] for i in range(len(GOOD_BODY))]
    done = await Exchange(app, headers=headers, body=pieces).run()

    assert done.status == 200
    assert agent.dials == 1


async def test_a_client_that_leaves_in_mid_body_gets_nothing(
    app: Starlette, agent: NoAgent
) -> None:
    leaving = Exchange(app, headers=refusals.headers(Refusal("", 0)), body=[b"{", b"}"])
    leaving._body = []
    leaving.hang_up()
    await leaving.run()

    assert leaving.sent == []
    assert agent.dials == 0


async def test_a_401_names_its_scheme_and_a_405_the_methods_allowed(app: Starlette) -> None:
    unauthorized = await exchange(app, Refusal("", 401, authorization=[])).run()
    wrong_method = await exchange(app, Refusal("", 405, method="PUT")).run()

    assert unauthorized.headers["www-authenticate"] == "Bearer"
    assert wrong_method.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["abc-1.2:3_Z"], True),
        (["x" * 128], True),
        (["x" * 129], False),
        (["a b"], False),
        (["a\tb"], False),
        (["<script>"], False),
        ([""], False),
        (["a", "b"], False),
        ([], False),
    ],
)
async def test_a_request_id_is_kept_if_it_is_sound(
    given: list[str],
    kept: bool,  # noqa: FBT001 (a table's column)
    app: Starlette,
) -> None:
    headers = [("x-request-id", value) for value in given]
    done = await Exchange(app, headers=headers).run()

    told = done.headers["x-request-id"]
    assert (told == given[0]) if kept else (len(told) == 32 and told.isalnum())


async def test_a_crash_tells_nobody_why() -> None:
    class BrokenAccess:
        async def grant(self, *_: object) -> None:
            raise KeyError("the database password")

    app = create_app(settings(), dialler=NoAgent(), access=BrokenAccess())
    crashing = exchange(app, Refusal("", 500))
    with pytest.raises(KeyError):
        await crashing.run()

    assert crashing.status == 500
    assert crashing.json["code"] == "internal"
    assert b"password" not in crashing.body


async def test_without_the_feature_flag_the_route_does_not_exist() -> None:
    app = create_app(settings(enabled="false"))
    done = await exchange(app, Refusal("", 404)).run()
    openapi = await Exchange(app, method="GET", path="/openapi.json").run()

    assert done.status == 404
    assert "/api/sessions/{session_id}/chat" not in openapi.json["paths"]
