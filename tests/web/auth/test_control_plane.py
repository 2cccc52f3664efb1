"""The question to the control plane: what is asked, and what each answer is worth."""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from gateway.control_plane import ControlPlane as ScriptedPlane
from gateway.control_plane import Question, Reply, granted, reply
from gateway.waiting import until
from turnwire import __version__
from turnwire.errors import Unauthorized, Unavailable
from turnwire.web.auth.access import Grant, Role
from turnwire.web.auth.control_plane import ANSWER_BYTES_MAX, ControlPlane
from turnwire.web.auth.identity import Caller

pytestmark = pytest.mark.sockets

TOKEN = "an-opaque-token-that-no-log-may-hold"


@asynccontextmanager
async def asking(
    url: str, *, timeout_s: float = 5, connections: int = 10
) -> AsyncIterator[ControlPlane]:
    plane = ControlPlane(url, timeout_s=timeout_s, connections=connections)
    try:
        yield plane
    finally:
        await plane.aclose()


async def ask(plane: ControlPlane, session: str = "s1", token: str = TOKEN) -> Grant | None:
    return await plane.grant(Caller(token, None, {}), session, "r-1")


async def fails(plane: ControlPlane, problem: str = "") -> None:
    """Ask; there must be one line in the log, and no token in it."""
    with capture_logs() as logs, pytest.raises(Unavailable) as raised:
        await ask(plane)

    (line,) = logs
    assert line["log_level"] == "warning"
    assert (line["session_id"], line["request_id"]) == ("s1", "r-1")
    assert problem in line["problem"]
    assert problem in str(raised.value)
    assert TOKEN not in f"{logs} {raised.value!r}"


@pytest.mark.parametrize("role", list(Role))
async def test_it_says_who_the_user_is_and_what_they_may(role: Role) -> None:
    told = granted(role.name.lower(), "ann", orchestrator=False, plan="free")
    async with ScriptedPlane(told) as says, asking(says.url) as plane:
        assert await ask(plane) == Grant("ann", role)


async def test_it_is_asked_with_the_users_token_and_little_else() -> None:
    async with ScriptedPlane(granted()) as says, asking(says.url) as plane:
        await ask(plane, "a:b.c-d_e")

    (question,) = says.questions
    assert question.method == "GET"
    assert question.path == "/api/sessions/a:b.c-d_e/access"
    assert question.headers == {
        "host": f"127.0.0.1:{says.port}",
        "authorization": f"Bearer {TOKEN}",
        "x-request-id": "r-1",
        "accept": "application/json",
        "accept-encoding": "identity",
        "connection": "keep-alive",
        "user-agent": f"turnwire/{__version__}",
    }


async def test_what_the_token_says_of_its_user_does_not_count() -> None:
    async with ScriptedPlane(granted(user="ann")) as says, asking(says.url) as plane:
        caller = Caller("a.b.c", "somebody", {"sessions": {"s1": "owner"}})

        assert await plane.grant(caller, "s1", "r-1") == Grant("ann", Role.COLLABORATOR)


async def test_401_says_that_the_token_is_nobodys() -> None:
    async with ScriptedPlane(reply(401)) as says, asking(says.url) as plane:
        with pytest.raises(Unauthorized):
            await ask(plane)


@pytest.mark.parametrize("status", [403, 404])
@pytest.mark.parametrize("body", [b"", b"no", b"x" * 10 * ANSWER_BYTES_MAX], ids=len)
async def test_403_and_404_say_the_same(status: int, body: bytes) -> None:
    async with ScriptedPlane(reply(status, body)) as says, asking(says.url) as plane:
        assert await ask(plane) is None


@pytest.mark.parametrize("status", [201, 204, 206, 300, 304, 400, 402, 405, 418, 429, 500, 502])
async def test_any_other_status_is_no_answer(status: int) -> None:
    body = b"" if status in {204, 304} else b'{"role":"owner","userId":"u1"}'
    async with ScriptedPlane(reply(status, body)) as says, asking(says.url) as plane:
        await fails(plane, f"status {status}")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(status: int) -> None:
    async def redirect(question: Question, writer: asyncio.StreamWriter) -> None:
        moved = question.path.endswith("access")
        writer.write(reply(status, b"", "location: /moved") if moved else granted("owner"))

    async with ScriptedPlane(redirect) as says, asking(says.url) as plane:
        await fails(plane, f"status {status}")

    assert len(says.questions) == 1


def _ok(body: bytes | str, *headers: str) -> bytes:
    return reply(200, body if isinstance(body, bytes) else body.encode(), *headers)


_GOOD = '{"role":"owner","userId":"u1"}'


@pytest.mark.parametrize(
    "says",
    [
        pytest.param(_ok(""), id="nothing"),
        pytest.param(_ok("<html>"), id="a page"),
        pytest.param(_ok(_GOOD[:-1]), id="half of it"),
        pytest.param(_ok(_GOOD * 2), id="two of them"),
        pytest.param(_ok(f"[{_GOOD}]"), id="an array"),
        pytest.param(_ok("null"), id="null"),
        pytest.param(_ok("{}"), id="an empty object"),
        pytest.param(_ok('{"userId":"u1"}'), id="no role"),
        pytest.param(granted("admin"), id="an unknown role"),
        pytest.param(granted("Owner"), id="a role in capitals"),
        pytest.param(granted(""), id="an empty role"),
        pytest.param(granted(2), id="a role that is a number"),
        pytest.param(granted(["owner"]), id="a role that is an array"),
        pytest.param(granted(None), id="a role that is null"),
        pytest.param(_ok('{"role":"owner"}'), id="no user"),
        pytest.param(granted(user=""), id="an empty user"),
        pytest.param(granted(user=7), id="a user that is a number"),
        pytest.param(granted(user=None), id="a user that is null"),
        pytest.param(granted(user="\ud800"), id="half of a character"),
        pytest.param(_ok(_GOOD.encode().replace(b"u1", b"\xff")), id="not UTF-8"),
        pytest.param(granted(orchestrator="true"), id="an orchestrator that is a string"),
        pytest.param(granted(orchestrator=1), id="an orchestrator that is a number"),
        pytest.param(granted(orchestrator=None), id="an orchestrator that is null"),
        pytest.param(_ok('{"x":' + "[" * 8000 + "]" * 8000 + "}"), id="deep nesting"),
        pytest.param(_ok(gzip.compress(_GOOD.encode()), "content-encoding: gzip"), id="packed"),
        pytest.param(granted(x="x" * ANSWER_BYTES_MAX), id="too long"),
    ],
)
async def test_an_answer_that_is_none_is_no_grant(says: bytes) -> None:
    async with ScriptedPlane(says) as scripted, asking(scripted.url) as plane:
        await fails(plane, "an")


@pytest.mark.attack("a control plane whose answer has no end", "503 at its limit")
async def test_an_answer_without_an_end_is_not_read_to_it() -> None:
    written = 0

    async def flood(_: Question, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n")
        while written < 100_000_000:
            writer.write(b"10000\r\n" + b" " * 65_536 + b"\r\n")
            written += 65_536
            await writer.drain()

    async with ScriptedPlane(flood) as says, asking(says.url) as plane:
        await fails(plane, "too long")
        await until(lambda: says.open == 0)

    assert written < 100_000_000


async def test_the_longest_answer_is_an_answer() -> None:
    body = _GOOD.encode().ljust(ANSWER_BYTES_MAX)
    async with ScriptedPlane(_ok(body)) as says, asking(says.url) as plane:
        assert await ask(plane) == Grant("u1", Role.OWNER)


@pytest.mark.parametrize(
    "says",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", id="another protocol"),
        pytest.param(b"HTTP/1.1 20", id="half a status"),
        pytest.param(b"HTTP/1.1 200 x\r\ncontent-le", id="half a head"),
        pytest.param(b"HTTP/1.1 200 x\r\ncontent-length: 99\r\n\r\n" + _GOOD.encode(), id="short"),
        pytest.param(b"HTTP/1.1 200 x\r\n" + b"a: b\r\n" * 50_000 + b"\r\n", id="a long head"),
        pytest.param(b"HTTP/1.1 200 x\r\ncontent-length: -1\r\n\r\n", id="a negative length"),
        pytest.param(b"HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\nzz", id="no chunks"),
        pytest.param(b"\0" * 200_000, id="zeroes"),
    ],
)
async def test_what_is_no_http_is_no_answer(says: bytes) -> None:
    async with ScriptedPlane(says, closes=True) as scripted, asking(scripted.url) as plane:
        await fails(plane, "Error")


async def _drip(_: Question, writer: asyncio.StreamWriter) -> None:
    """A byte now and then: never silent for long, and never done."""
    writer.write(b"HTTP/1.1 200 x\r\ncontent-length: 16000\r\n\r\n")
    while not writer.is_closing():
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "says",
    [
        pytest.param(b"", id="no head"),
        pytest.param(b"HTTP/1.1 200 x\r\n", id="half a head"),
        pytest.param(b"HTTP/1.1 200 x\r\ncontent-length: 9\r\n\r\n{", id="half a body"),
        pytest.param(b"HTTP/1.1 100 x\r\n\r\n", id="a promise"),
        pytest.param(_drip, id="byte after byte"),
    ],
)
async def test_an_answer_that_does_not_come_is_waited_for_no_longer_than_allowed(
    says: bytes | Reply,
) -> None:
    """And it holds its connection no longer: the only one there may be serves the next."""
    async with (
        ScriptedPlane(says) as scripted,
        asking(scripted.url, timeout_s=0.2, connections=1) as plane,
    ):
        for _ in range(3):
            await fails(plane, "TimeoutError")
        await until(lambda: scripted.open == 0)
        scripted.says = granted("owner")

        assert await ask(plane) == Grant("u1", Role.OWNER)


async def test_whoever_stops_waiting_gives_the_connection_back() -> None:
    async with ScriptedPlane() as says, asking(says.url, connections=1) as plane:
        waiting = asyncio.create_task(ask(plane))
        await until(lambda: says.questions)
        waiting.cancel()
        await asyncio.wait([waiting])
        says.says = granted("owner")

        assert await ask(plane) == Grant("u1", Role.OWNER)


async def test_one_that_is_not_there_is_no_answer() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/{{session_id}}"
        async with asking(url) as plane:
            await fails(plane, "ConnectError")


@pytest.mark.parametrize(
    "host", ["no-such-host.invalid", "a..b", "x" * 64 + ".invalid", "999.1.1.1"]
)
async def test_a_name_that_has_no_address_is_no_answer(host: str) -> None:
    async with asking(f"http://{host}/{{session_id}}") as plane:
        await fails(plane)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize(
    ("session", "orchestrator", "owners_alone"),
    [
        ("s1", False, False),
        ("s1", True, True),
        ("orchestrator", False, True),
        ("orchestrator:u1", False, True),
        ("orchestrator:u1", True, True),
    ],
)
async def test_an_orchestrator_session_is_its_owners_alone(
    role: Role,
    session: str,
    orchestrator: bool,  # noqa: FBT001 (a table's column)
    owners_alone: bool,  # noqa: FBT001 (a table's column)
) -> None:
    told = granted(role.name.lower(), orchestrator=orchestrator)
    async with ScriptedPlane(told) as says, asking(says.url) as plane:
        may = role is Role.OWNER or not owners_alone

        assert await ask(plane, session) == (Grant("u1", role) if may else None)
