"""`POST /api/sessions/{session_id}/chat`: one turn.

Read from here to follow a request: this file, then `core.prompt`, then
`relay.stream`, `core.turn` and `core.translate`. Refusals end here, with a
status; once the stream has begun, how it ends is the `Turn`'s outcome.
"""

import asyncio
import random
import uuid
from typing import Final
from urllib.parse import quote

import msgspec
import structlog
from starlette.types import Receive, Scope, Send

from turnwire import __version__
from turnwire.core.dialect import Ask
from turnwire.core.outcome import Outcome
from turnwire.core.prompt import extract
from turnwire.core.turn import Turn
from turnwire.errors import NotFound, Refused, SessionConflict, Unauthorized, Unavailable
from turnwire.relay.stream import SOCKET_EXTENSION, Call, Stream
from turnwire.settings import PLACEHOLDER
from turnwire.web.access import Grant, Role, require
from turnwire.web.gateway import Gateway
from turnwire.web.identity import Caller, bearer_token
from turnwire.web.refusals import refusal
from turnwire.web.report import report
from turnwire.web.request import ClientGoneError, Request

_log = structlog.get_logger("turnwire.http")

_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"x-vercel-ai-ui-message-stream", b"v1"),
]

_JITTER: Final = 0.2
"""Keepalives come up to this part earlier, so that idle streams do not write in step."""

_DIAL_REFUSALS: Final = {401: Unauthorized, 404: NotFound}
"""What the agent's handshake may say about the user's own token."""


class Chat:
    """The endpoint. A plain ASGI callable: nothing stands between it and the server's `send`."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        try:
            await self._serve(request, receive, send)
        except Refused as refused:
            self._gateway.telemetry.refusals.labels(refused.code).inc()
            _log.info(
                "refused",
                code=refused.code,
                reason=str(refused),
                session_id=request.session_id,
                user_id=request.user_id,
                request_id=request.id,
            )
            await refusal(refused, request.id)(scope, receive, send)
        except ClientGoneError:
            _log.info("gone before its body was whole", request_id=request.id)

    async def _serve(self, request: Request, receive: Receive, send: Send) -> None:
        arrived = asyncio.get_running_loop().time()
        gateway = self._gateway
        caller = await gateway.identity.identify(bearer_token(request.headers(b"authorization")))
        request.user_id = caller.user_id
        grant = await require(gateway.access, caller, request.session_id, Role.COLLABORATOR)
        with gateway.streams.place(grant.user_id):  # before the body, whose bytes it bounds
            prompt = extract(await request.body(receive, gateway.settings.body_bytes))
            channel_type, channel_id = request.channel()
            ask = Ask(
                text=prompt.text,
                prompt_id=uuid.uuid4().hex,
                client_message_id=prompt.message_id,
                channel_type=channel_type,
                channel_id=channel_id,
                user_id=grant.user_id,
            )
            await self._stream(request, receive, send, caller, grant, ask, arrived)

    async def _stream(
        self,
        request: Request,
        receive: Receive,
        send: Send,
        caller: Caller,
        grant: Grant,
        ask: Ask,
        arrived: float,
    ) -> None:
        gateway = self._gateway
        settings = gateway.settings
        conversation = gateway.dialect.prompt(ask)
        keepalive_s = gateway.limits.keepalive_s * (1 - _JITTER * random.random())  # noqa: S311 (jitter)
        turn = Turn(
            conversation,
            msgspec.structs.replace(gateway.limits, keepalive_s=keepalive_s),
            event_lines=settings.event_lines,
            usage=settings.usage,
            taken_id=ask.client_message_id,
        )
        stream = Stream(
            turn,
            send=send,
            receive=receive,
            headers=[*_HEADERS, (b"x-request-id", request.id.encode())],
            dial_s=settings.dial_s,
            stall_s=settings.stall_s,
            client_socket=request.scope.get("extensions", {}).get(SOCKET_EXTENSION),
        )
        call = Call(
            settings.agent_url.replace(PLACEHOLDER, quote(request.session_id, safe=":")),
            self._agent_headers(request, caller, grant),
            gateway.dialect.subprotocols,
        )
        try:
            with gateway.streams.running(stream), gateway.telemetry.active.track_inprogress():
                await stream.run(
                    gateway.dialler, call, refusable=lambda: stream.dial_status in _DIAL_REFUSALS
                )
        finally:
            seconds = asyncio.get_running_loop().time() - arrived
            tally = conversation.tally
            report(gateway.telemetry, request, grant, stream, tally, arrived, seconds)
        if not stream.started:
            _refuse(stream, settings.agent_auth)

    def _agent_headers(self, request: Request, caller: Caller, grant: Grant) -> dict[str, str]:
        settings = self._gateway.settings
        headers = {"user-agent": f"turnwire/{__version__}", "x-request-id": request.id}
        match settings.agent_auth:
            case "forward":
                headers["authorization"] = f"Bearer {caller.token}"
                return headers
            case "service":
                headers["authorization"] = f"Bearer {settings.agent_token}"
            case "none":
                pass
        # Percent-encoded: a header cannot carry every user id as it is.
        headers["x-turnwire-user"] = quote(grant.user_id, safe="@.:|/+-_~")
        return headers


def _refuse(stream: Stream, agent_auth: str) -> None:
    """Turn what happened before the headers into a status, where it is worth one.

    Raises:
        Refused: it is. (A client that hung up gets nothing.)

    """
    if stream.turn.outcome is Outcome.REFUSED:
        raise SessionConflict("the agent refused the prompt")
    status = stream.dial_status
    if stream.turn.outcome is None and status in _DIAL_REFUSALS:
        if agent_auth == "forward":
            raise _DIAL_REFUSALS[status](f"the agent answered {status} to the user's token")
        raise Unavailable(f"the agent answered {status} to the gateway")
