"""One `Turn` as the response to one request."""

import asyncio
import random
import time
from functools import partial
from typing import Final

import msgspec
from starlette.types import Receive, Send

from turnwire.core.approval import Requests
from turnwire.core.dialect import NEVER, Ask, Conversation, Look, Tally
from turnwire.core.known import Known
from turnwire.core.limits import Limits
from turnwire.core.outcome import Outcome
from turnwire.core.refusal import Refusal
from turnwire.core.room import Seat
from turnwire.relay.budget import Hold, Holder
from turnwire.relay.stream import BODY_EXTENSION, SOCKET_EXTENSION, Stream
from turnwire.settings import Settings
from turnwire.web.calling import DIAL_REFUSALS, call, dial_refused, refused
from turnwire.web.endpoint import Visit
from turnwire.web.gateway import Gateway
from turnwire.web.observing import Observed
from turnwire.web.recorder import lacks, outcome_of
from turnwire.web.report import report
from turnwire.web.workflow import Run

STREAM_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"x-vercel-ai-ui-message-stream", b"v1"),
]

_JITTER: Final = 0.2
"""Keepalives come up to this part earlier, so that idle streams do not write in step."""


async def stream(
    gateway: Gateway,
    visit: Visit,
    conversation: Conversation,
    limits: Limits,
    receive: Receive,
    send: Send,
    *,
    asked: Ask | Look,
    seat: Seat,
    holder: Holder,
    prompt: Hold | None = None,
    taken_id: str | None = None,
    known: Known | None = None,
    requests: Requests | None = None,
    run: Run | None = None,
) -> bool:
    """Stream a conversation's turn to its client, to the end. False: there is none to stream.

    `asked` is what the conversation was made for. `holder` is told what is held for it, and
    `prompt` what of that is to be sent to the agent. `taken_id` is an id that the client has given
    a message of its own; `known` is what it has of the answer that goes on. `requests` signs
    approvals. `run` is for a client that counts its chunks.

    Raises:
        Refused: the agent's side refused before the stream had begun.

    """
    loop = asyncio.get_running_loop()  # once: in Python 3.11 it is a system call
    settings = gateway.settings
    request = visit.request
    keepalive_s = limits.keepalive_s * (1 - _JITTER * random.random())  # noqa: S311 (jitter)
    limits = msgspec.structs.replace(
        limits, keepalive_s=keepalive_s, expires_at=_expires_at(settings, visit, loop.time())
    )
    observed = gateway.observers.begin(
        asked,
        limits,
        request_id=request.id,
        token=visit.caller.token,
        dialect=gateway.dialect.name,
        event_lines=settings.event_lines,
        usage=settings.usage,
        apart=seat.apart,
        taken_id=taken_id,
        lacks=lacks(known=known, requests=requests is not None and requests.native, run=run),
        others=request.trace.ears(),
    )
    del asked  # its files, which the conversation has until it sent them
    turn = observed.turn(
        conversation,
        limits,
        event_lines=settings.event_lines,
        usage=settings.usage,
        taken_id=taken_id,
        known=known,
        requests=requests,
        translator=None if run is None else run.translator(settings.usage, taken_id),
    )
    observed.listen(turn)
    extensions = request.scope.get("extensions", {})
    relayed = Stream(
        turn,
        send=send,
        receive=receive,
        headers=[
            *STREAM_HEADERS,
            (b"x-request-id", request.id.encode()),
            *([] if run is None else run.headers),
        ],
        dial_s=settings.dial_s,
        stall_s=settings.stall_s,
        holder=holder,
        prompt=prompt,
        client_socket=extensions.get(SOCKET_EXTENSION),
        body=extensions.get(BODY_EXTENSION, _nothing)(),
        sample=gateway.telemetry.relay.observe,
    )
    seat.on_news = relayed.look
    dialled_at = loop.time()
    with gateway.streams.running(relayed):  # or it is refused, which is no stream that ended
        try:
            await relayed.run(
                gateway.dialler,
                call(gateway, visit),
                refusable=lambda: relayed.dial_status in DIAL_REFUSALS,
            )
        finally:
            seconds = loop.time() - visit.arrived
            request.trace.hold()
            tally = conversation.tally
            relayed.when_taken(
                partial(_over, gateway, visit, relayed, observed, tally, seconds, dialled_at)
            )
    return relayed.started or _explained(relayed, settings.agent_auth)


def _over(
    gateway: Gateway,
    visit: Visit,
    relayed: Stream,
    observed: Observed,
    tally: Tally,
    seconds: float,
    dialled_at: float,
) -> None:
    """It is known how the stream ended, and whether its client has the end."""
    report(gateway.telemetry, visit, relayed, tally, seconds)
    observed.over(relayed, tally)
    outcome = outcome_of(relayed.turn.outcome, relayed.dial_status)
    trace = visit.request.trace
    trace.streamed(relayed, outcome, dialled_at)
    trace.end()


def _nothing() -> None:
    """Where the server is not ours."""


def _expires_at(settings: Settings, visit: Visit, now: float) -> float:
    """When the token's end cuts the stream, on the loop's clock."""
    if settings.token_expiry == "finish":  # noqa: S105 (no password)
        return NEVER
    return now + visit.caller.expires_at - time.time()


def _explained(relayed: Stream, agent_auth: str) -> bool:
    """Turn what happened before the headers into a status, where it is worth one.

    Raises:
        Refused: it is. (A client that hung up gets nothing.)

    """
    turn = relayed.turn
    if turn.outcome is Outcome.NOTHING:
        return False
    if turn.outcome is Outcome.REFUSED:
        raise refused(turn.refusal or Refusal.SESSION)
    if turn.outcome is None and relayed.dial_status is not None:
        raise dial_refused(relayed.dial_status, agent_auth)
    return True
