"""No answer of any route may be kept by a cache, or taken for another type than it says."""

import httpx
import pytest

from attacks.routes import ANSWER, CHAT, MESSAGES, PLAIN, RESUME, ROUTES, STOP
from gateway.agent import Line, ScriptedAgent
from gateway.agent import answer as answer_it
from gateway.clients import RawClient, new_client
from gateway.running import Gateway
from gateway.tokens import bearer

pytestmark = pytest.mark.sockets

SESSIONS = {"s1": "collaborator"}


async def hello(line: Line) -> None:
    """An agent that tells of one turn that runs, and answers whoever prompts."""
    turn = {"id": "t1", "role": "assistant", "parts": [{"type": "text", "text": "the-answer"}]}
    data = {"runnerBusy": "running" in line.path, "runningTurnId": "t1"}
    await line.say({"type": "init", "session": {"messages": [turn]}, "data": data})
    await answer_it(line)


def wrong(response: httpx.Response) -> list[str]:
    """What a cache or a browser might make of it."""
    directives = {part.strip() for part in response.headers.get("cache-control", "").split(",")}
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    found = []
    if not directives & ({"no-cache"} if is_stream else {"no-store"}):
        found.append("it may be kept")
    if is_stream and "no-transform" not in directives:
        found.append("it may be compressed")
    if "x-content-type-options" not in response.headers and not is_stream and response.content:
        found.append("its type may be guessed")
    if "x-request-id" not in response.headers and "/api/" in str(response.url):
        found.append("it cannot be found in the log")
    unwanted = ("etag", "last-modified", "expires", "set-cookie", "server", "age")
    return found + [name for name in unwanted if name in response.headers]


@pytest.mark.attack(
    "reading another user's answer from a cache",
    "every status of every route has `no-store`; a stream has `no-cache, no-transform`",
)
async def test_no_status_of_any_route_may_be_kept() -> None:
    seen: dict[tuple[str, int], list[str]] = {}

    def note(name: str, response: httpx.Response) -> None:
        seen[name, response.status_code] = wrong(response)

    async with (
        ScriptedAgent(hello) as agent,
        Gateway(
            agent.url(),
            given={"dial_s": 0.2, "idle_s": 1.0, "verdict_s": 0.05, "body_bytes": 200_000},
        ) as gateway,
        new_client() as client,
    ):
        for route in ROUTES:
            good = bearer(sessions=SESSIONS)
            note(route.name, await route.call(client, gateway.url, good))
            note(route.name, await route.call(client, gateway.url, {}))
            note(route.name, await route.call(client, gateway.url, good, session="s2"))
            bad = {"channelId": "\n"}
            note(route.name, await route.call(client, gateway.url, good, params=bad))
            url = f"{gateway.url}/api/sessions/s1/{route.path}"
            note(route.name, await client.put(url, headers=good))
            note(route.name, await client.options(url, headers={**good, "origin": "https://a"}))
            if route.body is not None:
                note(route.name, await client.post(url, content=b"{", headers=good))
                plain = {**good, "content-type": "text/plain"}
                note(route.name, await client.post(url, content=b" " * 300_000, headers=plain))
                html = {**good, "content-type": "text/html"}
                note(route.name, await client.post(url, content=b"{}", headers=html))
        for path in (*PLAIN, "/", "/metrics", "/docs", "/api/sessions/s1/chat/c/stream/x"):
            note(path, await client.get(gateway.url + path))
            note(path, await client.delete(gateway.url + path))
        async with RawClient(gateway) as raw:
            await raw.send(b"nonsense\r\n\r\n")
            head = (await raw.read_all()).lower()

    async with Gateway(dial_s=0.2) as gateway, new_client() as client:
        for route in (STOP, ANSWER, MESSAGES):
            note(route.name, await route.call(client, gateway.url, bearer()))
    async with Gateway(given={"turns_per_minute": 1}) as gateway, new_client() as client:
        for _ in range(2):
            note("chat", await CHAT.call(client, gateway.url, bearer()))
    async with (
        ScriptedAgent(status=404) as agent,
        Gateway(agent.url()) as gateway,
        new_client() as client,
    ):
        note("resume", await RESUME.call(client, gateway.url, bearer()))

    assert {key: found for key, found in seen.items() if found} == {}
    statuses = {status for _, status in seen}
    assert {200, 202, 204, 400, 401, 404, 405, 409, 413, 415, 429, 503} - statuses <= {
        202,
        204,
        409,
    }
    assert b"cache-control: no-store" in head
    assert b"x-content-type-options: nosniff" in head
