"""A request's body is waited for no longer than it may take."""

import asyncio
from typing import Any

import pytest

from turnwire.errors import BadRequest
from turnwire.relay.client_writer import SOCKET_EXTENSION
from turnwire.relay.memory_budget import Budget
from turnwire.relay.tcp import ClientSocket
from turnwire.web.request import Request


@pytest.mark.attack("a body, one byte at a time", "400 after 30 seconds")
@pytest.mark.parametrize("extensions", [{}, {SOCKET_EXTENSION: ClientSocket(asyncio.Transport())}])
async def test_a_body_that_does_not_come_is_not_waited_for(extensions: dict[str, Any]) -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    headers = [(b"content-type", b"application/json")]
    scope = {"headers": headers, "extensions": extensions}

    with pytest.raises(BadRequest, match="too slowly"):
        await Request(scope).body(never, 10, Budget().holder("u1"), timeout_s=0.01)
