"""One POST to a token server."""

import asyncio
from collections.abc import Callable

import httpx

from turnwire_agent.llm.credentials.grant import TokenRequest
from turnwire_agent.llm.credentials.token_answer import (
    BYTES_MAX,
    Answer,
    NotSent,
    Unavailable,
    read_answer,
)


class _TooLateError(Exception):
    pass


async def exchange(
    client: httpx.AsyncClient,
    url: str,
    request: TokenRequest,
    *,
    may_send: Callable[[], bool],
    connect_s: float,
    timeout_s: float,
) -> Answer | NotSent:
    """Ask for a token, once. Redirects are not followed, and what a server does raises nothing.

    Args:
        client: Its own headers are sent too.
        url: The token server.
        request: The form.
        may_send: Asked when the connection stands, right before the first and before the last bytes
            leave. A process that was stopped for a while does not send what is not its own any
            more.
        connect_s: Of the connection.
        timeout_s: Of all of it.
    """

    async def trace(event: str, _: object) -> None:
        if event.endswith((".send_request_headers.started", ".send_request_body.started")) and (
            not may_send()
        ):
            raise _TooLateError

    # The exceptions of httpx hold the request, and with it the secrets: none leaves this function,
    # not even as the context of another.
    try:
        async with (
            asyncio.timeout(timeout_s),
            client.stream(
                "POST",
                url,
                content=request.body,
                headers=request.headers,
                follow_redirects=False,
                timeout=httpx.Timeout(timeout_s, connect=connect_s),
                extensions={"trace": trace},
            ) as response,
        ):
            body = b""
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > BYTES_MAX:
                    return Unavailable("sends too long an answer")
            return read_answer(response.status_code, body, response.headers.get("retry-after", ""))
    except _TooLateError:
        return NotSent()
    except httpx.ConnectTimeout:
        return Unavailable(f"cannot be reached within {connect_s:g} s")
    except (httpx.TimeoutException, TimeoutError):
        return Unavailable(f"does not answer within {timeout_s:g} s")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return Unavailable(f"cannot be reached ({type(error).__name__})")
