"""What both clients share of HTTP: timeouts, headers, and what an exception of httpx means.

An exception of httpx holds the request with its token, and may have the token in its text. So none
of them is handed on, not even as a cause.
"""

from collections.abc import Mapping
from typing import Final

import httpx

from turnwire_client.errors import ConnectionLostError, TooLargeError, UnreachableError
from turnwire_client.limits import Limits
from turnwire_client.replies import read_refusal
from turnwire_client.requests import Request, bearer
from turnwire_client.steps import Broken, Reply

NOT_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""What is raised before a byte of the request is sent."""


POOL: Final = httpx.Limits(max_connections=None, keepalive_expiry=2.0)
"""A kept connection is given up before a server closes it: a prompt that meets the close may have
arrived, or not."""


def checked_url(base_url: str) -> str:
    """Return the URL of a gateway, without a slash at its end.

    Raises:
        ValueError: it is no URL of http or https.

    """
    url = base_url.rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ValueError("the gateway's URL begins with http:// or https://")
    return url


def timeout(limits: Limits) -> httpx.Timeout:
    return httpx.Timeout(limits.silence_s, connect=limits.connect_s, pool=None)


def built(
    http: httpx.Client | httpx.AsyncClient,
    url: str,
    request: Request,
    token: str | None,
    limits: Limits,
) -> httpx.Request:
    """Return the request as httpx sends it."""
    headers = {"accept": "text/event-stream, application/json", "accept-encoding": "identity"}
    if token is not None:
        headers["authorization"] = bearer(token)
    if request.content is not None:
        headers["content-type"] = "application/json"
    return http.build_request(
        request.method,
        url + request.path,
        params=dict(request.query) or None,
        headers=headers,
        content=request.content,
        timeout=timeout(limits),
    )


def broken(error: httpx.HTTPError) -> Broken:
    return Broken(is_sent=not isinstance(error, NOT_SENT))


def accepted(outcome: Reply | Broken) -> bytes:
    """Return the body of a good answer.

    Raises:
        RefusedError: the gateway refused the request.
        UnreachableError: no connection was made.
        ConnectionLostError: the connection broke; the gateway may have the request.

    """
    if isinstance(outcome, Broken):
        if outcome.is_sent:
            raise ConnectionLostError("the connection broke before the answer")
        raise UnreachableError("no connection to the gateway could be made")
    if outcome.status >= httpx.codes.BAD_REQUEST:
        raise read_refusal(outcome.status, outcome.headers, outcome.body)
    return outcome.body


def is_stream(response: httpx.Response) -> bool:
    kind = response.headers.get("content-type", "").partition(";")[0].strip()
    return response.status_code == httpx.codes.OK and kind == "text/event-stream"


def reply_to(response: httpx.Response, body: bytes, *, is_open: bool = False) -> Reply:
    headers: Mapping[str, str] = dict(response.headers)
    return Reply(response.status_code, headers, body, is_open)


def check_size(body: bytearray, limits: Limits) -> None:
    """Raise `TooLargeError` if a body that is no stream is over its bound."""
    if len(body) > limits.reply_bytes:
        raise TooLargeError("the answer is longer than reply_bytes")
