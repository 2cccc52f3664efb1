"""The operations of an API are called over sockets: where, as whom, how often, how much."""

import asyncio
import gzip
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.waiting import PATIENCE_S
from runtime.llm.scripted_server import Script, ScriptedServer, head, response, sends
from runtime.llm.scripted_server import sends_then_silent as silent
from runtime.tools.openapi.documents import ID, TEXT, Json, document, json_body
from turnwire_agent.llm.credentials.api_key import ApiKey
from turnwire_agent.llm.credentials.key_header import BEARER, KeyHeader
from turnwire_agent.llm.credentials.port import Granted
from turnwire_agent.llm.credentials.sources import KeyVariable
from turnwire_agent.openapi.api import ApiError, OpenApi, header_key
from turnwire_agent.tools.contract import BadToolError, Context, ToolFailed
from turnwire_agent.tools.openapi.policy import Policy

pytestmark = pytest.mark.sockets
CONTEXT = Context(call_id="c1", key="s1/c1", deadline=0.0)
SHOP = document(
    {
        "/orders/{id}": {
            "parameters": [ID],
            "get": {"operationId": "read"},
            "put": {"operationId": "change", "requestBody": json_body({"type": "object"})},
        },
        "/orders": {
            "post": {
                "operationId": "create",
                "parameters": [{"name": "X-Tenant", "in": "header", "schema": TEXT}],
            },
        },
    },
    servers=[{"url": "https://evil.example"}],
)
OK = response(200, {"ok": True}, content_type="application/json; charset=utf-8")


@asynccontextmanager
async def shop(
    *scripts: Script | bytes, keyed: frozenset[str] = frozenset(), **others: Any
) -> AsyncIterator[tuple[OpenApi, ScriptedServer]]:
    timeout_s = others.pop("timeout_s", 10.0)
    policy = Policy(name="shop", keyed=keyed, timeout_s=timeout_s)
    played = [sends(each) if isinstance(each, bytes) else each for each in scripts or (OK,)]
    server = ScriptedServer(played)
    async with server, OpenApi(SHOP, policy, server.url, **others) as api:
        yield api, server


async def call(api: OpenApi, name: str, **arguments: Any) -> Any:
    tool = api.tools.get(f"shop.{name}")
    assert tool
    return await tool.call(arguments, CONTEXT)


async def test_an_operation_is_called_where_the_operator_says() -> None:
    async with shop() as (api, server):
        assert await call(api, "change", id="a b", body={"item": "x"}) == {"ok": True}

    (asked,) = server.asked
    assert asked.line == "PUT /v1/orders/a%20b HTTP/1.1"
    assert json.loads(asked.body) == {"item": "x"}
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["accept-encoding"] == "identity"
    assert "authorization" not in asked.headers


async def test_a_parameter_of_a_path_cannot_leave_its_segment() -> None:
    async with shop() as (api, server):
        for value in ("..", "../admin", "a/../../admin", "a/admin", "a\\admin"):
            with pytest.raises(ToolFailed, match="`id` is a part of a path"):
                await call(api, "read", id=value)
        assert server.asked == []
        await call(api, "read", id="..%2fadmin?x=1#y%2e%2e")

    assert server.asked[0].line == "GET /v1/orders/..%252fadmin%3Fx%3D1%23y%252e%252e HTTP/1.1"


async def test_the_key_of_the_call_goes_with_keyed_operations_alone() -> None:
    async with shop(keyed=frozenset({"change"})) as (api, server):
        await call(api, "change", id="1", body={})
        await call(api, "create")
        await call(api, "read", id="1")

    keys = [asked.headers.get("idempotency-key") for asked in server.asked]
    assert keys == ["s1/c1", None, None]


def test_a_key_is_one_that_a_header_takes() -> None:
    assert header_key("s1/c1") == "s1/c1"
    odd = [header_key(key) for key in ("ä", "a b", "", "a\nb", "x" * 256)]
    assert len(set(odd)) == 5
    assert all(len(key) == 64 for key in odd)
    assert header_key("ä") == odd[0]


async def test_the_credential_goes_with_each_request_and_is_in_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("SHOP_KEY", "canary-of-the-shop")
    echo = response(
        200, {"headers": ["Bearer canary-of-the-shop"]}, content_type="application/json"
    )
    failure = response(500, b"canary-of-the-shop", content_type="text/plain")
    credential = ApiKey(KeyVariable("SHOP_KEY"), BEARER)
    async with shop(echo, failure, credential=credential) as (api, server):
        result = await call(api, "read", id="secret-of-the-user")
        with pytest.raises(ToolFailed) as failed:
            await call(api, "read", id="1")

    assert server.asked[0].headers["authorization"] == "Bearer canary-of-the-shop"
    assert result == {"headers": ["[secret]"]}
    assert str(failed.value) == "The server answered 500: [secret]"
    assert "canary" not in caplog.text
    assert "secret-of-the-user" not in caplog.text
    assert "tool='shop.read' status=200" in caplog.text


async def test_no_argument_takes_the_place_of_the_credential(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_KEY", "tenant-of-the-operator")
    credential = ApiKey(KeyVariable("SHOP_KEY"), KeyHeader("x-tenant"))
    async with shop(credential=credential) as (api, server):
        await call(api, "create", **{"X-Tenant": "another"})

    assert server.asked[0].headers["x-tenant"] == "tenant-of-the-operator"


class Rotating:
    """Its first token is too old; it gets another when it is told so."""

    def __init__(self) -> None:
        self.version = 1

    async def headers(self) -> Granted:
        return Granted({"authorization": f"Bearer token-{self.version}"}, str(self.version))

    async def refused(self, version: str) -> bool:
        if version == "1":
            self.version = 2
        return version != str(self.version)


async def test_a_401_is_tried_again_with_another_token_and_else_told() -> None:
    async with shop(response(401), OK, response(401), credential=Rotating()) as (api, server):
        assert await call(api, "create") == {"ok": True}
        with pytest.raises(ToolFailed, match="does not accept our credential"):
            await call(api, "create")

    tokens = [asked.headers["authorization"] for asked in server.asked]
    assert tokens == ["Bearer token-1", "Bearer token-2", "Bearer token-2"]


async def test_without_a_credential_nothing_is_asked(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("SHOP_KEY", raising=False)
    async with shop(credential=ApiKey(KeyVariable("SHOP_KEY"), BEARER)) as (api, server):
        with pytest.raises(ApiError):
            await call(api, "read", id="1")

    assert server.asked == []
    assert "tool='shop.read' no credential" in caplog.text


async def test_a_redirect_is_not_followed() -> None:
    async with shop(response(302, location="https://evil.example/")) as (api, server):
        with pytest.raises(ToolFailed, match=r"points elsewhere \(302\)"):
            await call(api, "read", id="1")

    assert len(server.asked) == 1


async def test_a_cookie_is_not_kept() -> None:
    async with shop(response(200, b"", set_cookie="a=b")) as (api, server):
        await call(api, "read", id="1")
        await call(api, "read", id="1")

    assert "cookie" not in server.asked[1].headers


@pytest.mark.parametrize("packed", [False, True])
async def test_an_answer_has_a_bound(packed: bool) -> None:  # noqa: FBT001
    body = b"x" * 100_000
    headers = {"content-type": "text/plain"} | ({"content-encoding": "gzip"} if packed else {})
    answer = head(200, headers) + (gzip.compress(body) if packed else body)
    async with shop(answer, body_bytes=1_000) as (api, _):
        result = await call(api, "read", id="1")

    assert result == "x" * 1_000 + "\n[the answer is longer: the rest was left out]"


async def test_an_answer_without_an_end_is_read_up_to_its_bound() -> None:
    answer = head(200, {"content-type": "text/plain"}) + b"x" * 2_000
    async with shop(silent(answer), body_bytes=1_000) as (api, server):
        assert "rest was left out" in await call(api, "read", id="1")
        await asyncio.wait_for(server.hung_up.wait(), PATIENCE_S)


@pytest.mark.parametrize("script", [silent(), silent(head(200) + b"x")])
async def test_a_call_has_a_time(script: Script) -> None:
    async with shop(script, timeout_s=0.3) as (api, _):
        with pytest.raises(ToolFailed, match=r"did not answer within 0.3 s\.$"):
            await call(api, "read", id="1")
        with pytest.raises(ToolFailed, match="Whether it did its work is not known"):
            await call(api, "create")


async def test_who_cancels_a_call_closes_its_connection() -> None:
    async with shop(silent()) as (api, server):
        task = asyncio.create_task(call(api, "read", id="1"))
        await asyncio.wait_for(server.was_asked.wait(), PATIENCE_S)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.hung_up.wait(), PATIENCE_S)


@pytest.mark.parametrize(
    "script",
    [
        sends(b""),
        sends(b"nonsense\r\n\r\n"),
        sends(head(200, {"content-length": "9"}) + b"x"),
        sends(head(200, {"content-encoding": "zstd"}) + b"x"),
        sends(head(200, {"content-encoding": "gzip"}) + b"this is not packed"),
    ],
)
async def test_a_connection_that_breaks_leaves_a_doubt(script: Script) -> None:
    async with shop(script) as (api, _):
        with pytest.raises(ToolFailed, match=r"connection to the server broke\.$"):
            await call(api, "read", id="1")
        with pytest.raises(ToolFailed, match=r"broke\. Whether it did its work is not known"):
            await call(api, "create")


async def test_where_nobody_listens_nothing_was_done() -> None:
    async with OpenApi(SHOP, Policy(name="shop"), "http://127.0.0.1:9") as api:
        with pytest.raises(ToolFailed, match=r"cannot be reached\. Nothing was done"):
            await call(api, "create")


async def test_it_is_called_in_its_own_loop_from_any_other() -> None:
    async with shop() as (api, _):
        with ThreadPoolExecutor() as threads:
            loop = asyncio.get_running_loop()
            called = await loop.run_in_executor(
                threads, lambda: asyncio.run(call(api, "read", id="1"))
            )

    assert called == {"ok": True}


async def test_it_is_called_while_it_is_open() -> None:
    api = OpenApi(SHOP, Policy(name="shop"), "http://127.0.0.1:9")
    with pytest.raises(ApiError, match="is not open"):
        await call(api, "create")
    async with api:
        pass
    with pytest.raises(ApiError, match="is not open"):
        await call(api, "create")


def test_what_is_no_tool_is_a_refusal() -> None:
    large: Json = {"name": "q", "in": "query", "required": True, "schema": {"pattern": "("}}
    paths = {"/a": {"get": {"parameters": [large]}, "post": {}, "trace": {}}}

    api = OpenApi(document(paths), Policy(name="shop"), "http://127.0.0.1:9")

    assert [tool.name for tool in api.tools] == ["shop.POST /a"]
    assert [(each.operation, each.name) for each in api.refusals] == [
        ("TRACE /a", "method"),
        ("GET /a", "schema"),
    ]


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(BadToolError, match="the address of an API"):
        OpenApi(SHOP, Policy(name="shop"), "shop.example")


def test_it_needs_no_extra() -> None:
    code = "import sys, turnwire_agent.openapi.api; assert 'mcp' not in sys.modules"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
