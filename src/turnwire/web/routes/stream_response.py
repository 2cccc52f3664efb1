"""Runs one `Turn` as the response to one request: `stream`."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import msgspec
from starlette.types import Receive, Send

from turnwire.config.effective import agent_auth
from turnwire.config.settings import Settings
from turnwire.core.agent import NEVER, AgentProtocol
from turnwire.core.connect import ConnectRequest
from turnwire.core.output import OutputProtocol
from turnwire.core.rejection import Rejection
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome, final_outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.turn_log.protocol import ReaderOutput, ReaderProtocol
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.client_writer import BODY_EXTENSION, SOCKET_EXTENSION
from turnwire.relay.memory_budget import Holder, Reservation
from turnwire.relay.turn_log.reader import LOG_TARGET, LogTransport
from turnwire.relay.turn_stream import Stream
from turnwire.web.context import AppContext
from turnwire.web.observe.observers import ObservedStream, Observers
from turnwire.web.routes.agent_target import (
    http_error_for,
    http_error_for_status,
    is_http_error,
    target_for,
)
from turnwire.web.routes.endpoint import RequestContext
from turnwire.web.routes.logged_turn import LoggedTurn
from turnwire.web.routes.stream_log import report

_JITTER: Final = 0.2
"""Keepalives come up to this fraction earlier, so that idle streams do not write in step."""


def _ignore(_: Stream) -> None:
    """The default of `on_end`: does nothing."""


async def stream(
    app_context: AppContext,
    context: RequestContext,
    protocol: AgentProtocol,
    limits: Limits,
    receive: Receive,
    send: Send,
    *,
    agent_request: PromptRequest | ResumeRequest,
    member: Member,
    holder: Holder,
    prompt_reservation: Reservation | None = None,
    options: StreamOptions,
    headers: Sequence[tuple[bytes, bytes]] = (),
    logged: LoggedTurn | None = None,
    log_reader: LogTransport | None = None,
    on_end: Callable[[Stream], object] = _ignore,
) -> bool:
    """Stream the turn of `protocol` to the client, to the end. False: there is no turn to stream.

    `agent_request` is the request that `protocol` was made for. `holder` counts the bytes that the
    stream holds; `prompt_reservation` is the part of them that goes to the agent. `headers` are
    response headers beside those of every stream. `logged`: the turn is kept in the turn log.
    `log_reader`: the turn is read from there, by a `ReaderProtocol`. `on_end` gets the stream when
    it is over.

    Raises:
        RequestRefused: the agent's side rejected the request before the stream began.

    """
    app_context.streams.check()  # before all that would have to be taken apart again
    loop = asyncio.get_running_loop()  # called once: in Python 3.11 it is a system call
    settings = app_context.settings
    request = context.request
    keepalive_s = limits.keepalive_s * (1 - _JITTER * random.random())  # noqa: S311 (jitter)
    limits = msgspec.structs.replace(
        limits,
        keepalive_s=keepalive_s,
        expires_at=_expires_at(settings, context, loop.time()),
        is_kept=logged is not None and logged.is_kept,
    )
    output: OutputProtocol = UIMessageStream(options)
    # Frames of the log are not the agent's: neither do they drift, nor can they be replayed.
    observers = app_context.observers if log_reader is None else Observers()
    observed = observers.attach(
        agent_request,
        limits,
        request_id=request.id,
        token=context.caller.token,
        dialect=app_context.dialect.name,
        options=options,
        apart=member.apart,
        extra_observers=request.trace.observers(output.keepalive),
    )
    del agent_request  # its files: only the protocol keeps them, until it has sent them
    if logged is not None:
        output = logged.tee(output)
        headers = [*headers, *logged.headers]
    elif isinstance(protocol, ReaderProtocol):
        output = ReaderOutput(output, protocol)
    turn = Turn(protocol, limits, output, observers=observed.observers)
    extensions = request.scope.get("extensions", {})
    turn_stream = Stream(
        turn,
        send=send,
        receive=receive,
        headers=[*output.headers, (b"x-request-id", request.id.encode()), *headers],
        dial_s=settings.dial_s,
        stall_s=settings.stall_s,
        holder=holder,
        prompt=prompt_reservation,
        protocol=protocol,
        client_socket=extensions.get(SOCKET_EXTENSION),
        body=extensions.get(BODY_EXTENSION, _no_body)(),
        sample=app_context.telemetry.relay.observe,
    )
    member.on_change = turn_stream.wake
    is_answer = app_context.transport.status_is_answer
    dialled_at = loop.time()
    with app_context.streams.register(turn_stream):  # a refusal here is not reported as a stream
        try:
            if logged is not None:
                logged.attach(turn_stream)
            await turn_stream.run(
                log_reader or app_context.transport,
                LOG_TARGET
                if log_reader
                else _dialled(app_context, context, protocol.connect_request()),
                refusable=lambda: is_http_error(turn_stream.dial_status, is_answer=is_answer),
                next_target=partial(_dialled, app_context, context),
            )
        finally:
            if logged is not None:
                logged.end(turn_stream)
            on_end(turn_stream)
            seconds = loop.time() - context.arrived
            request.trace.defer_end()
            frame_stats = protocol.frame_stats
            turn_stream.when_delivered(
                partial(
                    _finish,
                    app_context,
                    context,
                    turn_stream,
                    observed,
                    frame_stats,
                    seconds,
                    dialled_at,
                    logged,
                    "read" if log_reader else _kept(logged),
                )
            )
    return turn_stream.started or _check_outcome(
        turn_stream, agent_auth(settings), is_answer=is_answer
    )


def _dialled(
    app_context: AppContext, context: RequestContext, connect: ConnectRequest
) -> AgentTarget:
    """Return what is dialled now, and note it in the trace."""
    target = target_for(app_context, context, connect)
    context.request.trace.dialling(target)
    return target


def _finish(
    app_context: AppContext,
    context: RequestContext,
    turn_stream: Stream,
    observed: ObservedStream,
    frame_stats: FrameStats,
    seconds: float,
    dialled_at: float,
    logged: LoggedTurn | None,
    turn_log: str | None,
) -> None:
    """Report the stream. Called when the client has taken the end of it, or has not in time."""
    if logged is not None and turn_stream.arrived is False:
        logged.missed()
    report(app_context.telemetry, context, turn_stream, frame_stats, seconds, turn_log)
    observed.finish(turn_stream, frame_stats)
    outcome = final_outcome(turn_stream.turn.outcome, turn_stream.dial_status)
    trace = context.request.trace
    trace.streamed(turn_stream, outcome, dialled_at)
    trace.end()


def _kept(logged: LoggedTurn | None) -> str | None:
    """Return what the log line says of the turn log; None if there is no turn in it."""
    return None if logged is None or logged.is_given_up else "kept"


def _no_body() -> None:
    """Return no `Body`: the server does not offer the extension."""


def _expires_at(settings: Settings, context: RequestContext, now: float) -> float:
    """Return when the expiry of the token cuts the stream, in seconds on the loop's clock."""
    if settings.token_expiry == "finish":  # noqa: S105 (no password)
        return NEVER
    return now + context.caller.expires_at - time.time()


def _check_outcome(turn_stream: Stream, auth: str, *, is_answer: bool) -> bool:
    """Check why a stream ended before its headers. False: the agent has no turn to stream.

    True: the client disconnected, so there is nothing to answer.

    Raises:
        RequestRefused: the agent's side rejected the request, or answered the dial with a status.

    """
    turn = turn_stream.turn
    if turn.outcome is Outcome.NOTHING:
        return False
    if turn.outcome is Outcome.REFUSED:
        raise http_error_for(turn.rejection or Rejection.SESSION)
    if turn.outcome is None and turn_stream.dial_status is not None:
        raise http_error_for_status(
            turn_stream.dial_status,
            auth,
            is_answer=is_answer,
            retry_after_s=turn_stream.retry_after_s,
        )
    return True
