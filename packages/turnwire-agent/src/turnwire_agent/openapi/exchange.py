"""One request to an API and its answer, by the HTTP library."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

import httpx

from turnwire_agent import __version__
from turnwire_agent.llm.call.blotting import Blotting, spellings
from turnwire_agent.llm.call.failed_error import FailedError
from turnwire_agent.llm.call.http import Client
from turnwire_agent.llm.call.unpacking import Unpacking
from turnwire_agent.openapi.answers import Answer
from turnwire_agent.tools.contract import ToolFailed
from turnwire_agent.tools.openapi.operations import READING
from turnwire_agent.tools.openapi.request import HttpRequest

_NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_CANNOT: Final = (
    *(httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, ValueError),
)
_LOST: Final = (httpx.HTTPError, httpx.StreamError, OSError, FailedError)

# It writes the address of each request into the log, with what a model put into it.
if logging.getLogger("httpx").level == logging.NOTSET:
    logging.getLogger("httpx").setLevel(logging.WARNING)


async def exchange(
    client: Client,
    address: str,
    request: HttpRequest,
    credential: Mapping[str, str],
    timeout_s: float,
    body_bytes: int,
) -> Answer:
    """Send a request, and read its answer up to a bound. Redirects are not followed.

    Args:
        client: Of this event loop.
        address: What the target of the request is put behind.
        request: Its headers give way to ours and to those of the credential.
        credential: Headers. What of them is in the answer is blotted out.
        timeout_s: For all of it, in seconds.
        body_bytes: Most bytes of the answer. What comes after them is not read.

    Raises:
        ToolFailed: there is no answer. It says whether the server may have done its work.
    """
    headers = httpx.Headers(dict(request.headers))
    headers["accept"] = "application/json, text/*;q=0.9, */*;q=0.5"
    headers["accept-encoding"] = "identity"
    headers["user-agent"] = f"turnwire-agent/{__version__}"
    headers.update(dict(credential))
    try:
        async with asyncio.timeout(timeout_s):
            return await _answer(client, address, request, headers, credential, body_bytes)
    except _NOT_SENT:
        failed = ToolFailed("The server cannot be reached. Nothing was done.")
    except _CANNOT:
        failed = ToolFailed("The request cannot be sent as HTTP. Nothing was done.")
    except (TimeoutError, httpx.TimeoutException):
        failed = ToolFailed(f"The server did not answer within {timeout_s:g} s.{_doubt(request)}")
    except _LOST:
        failed = ToolFailed(f"The connection to the server broke.{_doubt(request)}")
    raise failed


async def _answer(
    client: Client,
    address: str,
    request: HttpRequest,
    headers: httpx.Headers,
    credential: Mapping[str, str],
    body_bytes: int,
) -> Answer:
    built = client.build_request(
        request.method, address + request.target, headers=headers, content=request.body
    )
    built.extensions["timeout"] = httpx.Timeout(None).as_dict()  # one for all of it is enough
    response = await client.send(built, stream=True, auth=None, follow_redirects=False)
    try:
        unpacking = Unpacking(response.headers.get("content-encoding", ""), body_bytes)
        blotting, body = Blotting(spellings(credential)), bytearray()
        async for piece in response.aiter_raw():
            body += blotting.feed(unpacking.feed(piece))
            if unpacking.cut:
                break
        body += blotting.end()
    finally:
        await response.aclose()
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return Answer(response.status_code, media_type, bytes(body), unpacking.cut)


def _doubt(request: HttpRequest) -> str:
    """What the model has to know of a request that changes something."""
    return "" if request.method in READING else " Whether it did its work is not known."
