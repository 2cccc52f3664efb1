"""What a request asks reaches the agent, over real sockets and within the settings' limits."""

import base64
import json
from typing import Any

import pytest
from httpx import Response

from gateway.agent import ScriptedAgent
from gateway.clients import Json, ask, new_client, said
from gateway.running import Gateway
from gateway.tokens import bearer

pytestmark = pytest.mark.sockets

PNG = b"\x89PNG\r\n\x1a\n"
HOST = "files.example"


def file(data: bytes = PNG, **fields: Any) -> Json:
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return {"type": "file", "mediaType": "image/png", "filename": "a.png", "url": url, **fields}


def with_files(*files: Json) -> Json:
    body = ask()
    body["messages"][-1]["parts"][:0] = files
    return body


async def send(gateway: Gateway, body: Json, content_type: str = "application/json") -> Response:
    async with new_client() as client:
        return await client.post(
            f"{gateway.url}/api/sessions/s1/chat",
            content=json.dumps(body),
            headers={**bearer("u1"), "content-type": content_type},
        )


@pytest.mark.parametrize("size", [0, 8_900_000])
async def test_a_file_reaches_the_agent_whole(size: int) -> None:
    part = file(PNG + bytes(size))

    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        response = await send(gateway, with_files(part))
        prompt = agent.lines[0].heard[0]

    assert said(response.text) == "Hello world"
    assert prompt["content"] == "hi"
    assert prompt["attachments"] == [
        {"type": "file", "mime": "image/png", "url": part["url"], "filename": "a.png"}
    ]


@pytest.mark.parametrize(
    ("given", "files", "reason"),
    [
        ({"attachments": 0}, [file()], "Attachments are not accepted"),
        ({"attachments": 1}, [file(), file()], "There are more than 1 attachments"),
        ({"attachment_bytes": 30}, [file()], "An attachment is larger than 30 characters"),
        (
            {"attachment_types": "text/*, image/jpeg"},
            [file()],
            "An attachment is of a type that is not accepted",
        ),
        (
            {"attachment_hosts": "other.example"},
            [file(url=f"https://{HOST}/a.png")],
            "An attachment's URL is neither a data: URL nor one that is allowed",
        ),
    ],
)
async def test_the_settings_bound_what_may_come(
    given: dict[str, object], files: list[Json], reason: str
) -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url(), given=given) as gateway:
        response = await send(gateway, with_files(*files))

    assert (response.status_code, response.json()["error"]) == (400, reason)
    assert agent.connections == 0


async def test_a_remote_file_of_a_listed_host_is_passed_on() -> None:
    given = {"attachment_hosts": f"other.example, {HOST.upper()}"}
    url = f"https://{HOST}/a.png"

    async with ScriptedAgent() as agent, Gateway(agent.url(), given=given) as gateway:
        await send(gateway, with_files(file(url=url)))
        prompt = agent.lines[0].heard[0]

    assert prompt["attachments"][0]["url"] == url


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, {}),
        ({"trigger": "regenerate-message", "messageId": "a1"}, {"regenerate": True}),
        ({"messageId": "m1"}, {"edit": True}),
    ],
)
async def test_the_agent_hears_what_goes_in_place_of_an_earlier_one(
    fields: dict[str, str], told: dict[str, bool]
) -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        await send(gateway, ask(**fields))
        prompt = agent.lines[0].heard[0]

    assert {name: prompt[name] for name in ("regenerate", "edit") if name in prompt} == told
    assert prompt["clientMessageId"] == "m1"


async def test_the_body_of_a_workflow_transport_is_a_prompt() -> None:
    body = {"messages": ask()["messages"]}

    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        response = await send(gateway, body, "text/plain;charset=UTF-8")

    assert said(response.text) == "Hello world"
