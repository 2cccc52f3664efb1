"""A message that comes back with answers, where the turn log keeps the turn that asked.

A turn that waits for its client goes on with another run of the agent, which is this request's. A
turn that runs gets the answers where it runs, and this request reads the rest of it in the log.
"""

import msgspec
from starlette.types import Receive, Send

from turnwire.core.body.continuation import Continuation
from turnwire.core.events import Event
from turnwire.core.rejection import RejectedError, Rejection
from turnwire.core.requests import Channel, ResumeRequest
from turnwire.core.turn_log.continuation import (
    ContinuationProtocol,
    FollowingProtocol,
    read_events,
)
from turnwire.core.turn_log.entries import Head, UnreadableError, read_head
from turnwire.core.turn_log.questions import AskedQuestions
from turnwire.core.ui_stream.output import StreamOptions
from turnwire.errors import BadRequest
from turnwire.relay.memory_budget import Holder
from turnwire.relay.rounds import run_in_slices
from turnwire.relay.turn_log.port import ChatKey, WaitingTurn, chat_key
from turnwire.relay.turn_log.reader import LogTransport
from turnwire.web.context import AppContext, disconnect_limits, reader_limits
from turnwire.web.request import reserve
from turnwire.web.routes import agent_session, approval_profile
from turnwire.web.routes.agent_target import http_error_for
from turnwire.web.routes.endpoint import RequestContext
from turnwire.web.routes.logged_turn import LoggedTurn
from turnwire.web.routes.stream_response import stream


async def stream_rest(
    app_context: AppContext,
    context: RequestContext,
    continuation: Continuation,
    channel: Channel,
    holder: Holder,
    receive: Receive,
    send: Send,
) -> None:
    """Give the answers to the turn, and stream the rest of it.

    Raises:
        RequestRefused: an answer is not accepted. Then none is.

    """
    turn_log, settings = app_context.turn_log, app_context.settings
    assert turn_log is not None
    request = ResumeRequest(
        user_id=context.user_id,
        session_id=context.request.session_id,
        channel=channel,
        init_s=settings.dial_s,
        replies=approval_profile.replies(settings, context, continuation),
        terms=approval_profile.terms(settings),
        conversation=continuation.conversation,
        message_id=continuation.message_id,
        options=app_context.dialect_options,
        agent_session=await agent_session.find(app_context, context, channel),
    )
    options = msgspec.structs.replace(
        app_context.stream_options,
        client_copy=continuation.client_copy,
        approvals=approval_profile.approvals(app_context, context),
        resets=approval_profile.knows_resets(context),
    )
    del continuation
    key = chat_key(context.session_key, channel)
    logged = LoggedTurn(app_context)
    waiting = await logged.resume_waiting(turn_log, key)
    with logged:
        if waiting is None:
            _accept(await turn_log.answer(key, request.replies, context.user_id))
            request = msgspec.structs.replace(request, conversation=None)
            reserve(holder, 0)
            response = _follow(app_context, context, request, options, holder, receive, send, key)
        else:
            response = _run(
                app_context, context, request, options, holder, receive, send, logged, waiting
            )
        del request, waiting  # now only the protocol keeps the conversation
        if not await response:
            raise http_error_for(Rejection.NO_TURN)


async def _run(
    app_context: AppContext,
    context: RequestContext,
    request: ResumeRequest,
    options: StreamOptions,
    holder: Holder,
    receive: Receive,
    send: Send,
    logged: LoggedTurn,
    waiting: WaitingTurn,
) -> bool:
    """Continue a turn that waited."""
    try:
        head = read_head(waiting.head)
        events = await run_in_slices(app_context.dialler.rounds, read_events(waiting.frames))
    except UnreadableError as exc:
        raise http_error_for(Rejection.CLOSED) from exc
    del waiting
    _check(head, events, request)
    limits = disconnect_limits(
        app_context.settings, app_context.limits, context.request.query.get("onDisconnect")
    )
    logged.continues(head.user_id, {each.question_id: each.answer for each in request.replies})
    has_conversation = request.conversation is not None
    with app_context.session_groups.member(context.session_key) as member:
        try:
            run = app_context.dialect.resume(
                msgspec.structs.replace(request, waiting=events), member
            )
        except RejectedError as exc:
            raise http_error_for(exc.rejection) from exc
        protocol = ContinuationProtocol(run, events, request.replies)
        response = stream(
            app_context,
            context,
            protocol,
            limits,
            receive,
            send,
            agent_request=request,
            member=member,
            holder=holder,
            prompt_reservation=holder.request_reservation if has_conversation else None,
            options=options,
            logged=logged,
        )
        del request, events, run, protocol
        return await response


def _check(head: Head, events: list[Event], request: ResumeRequest) -> None:
    """Check that the turn takes these answers, and that no open question lacks one.

    Raises:
        RequestRefused: it does not, or one lacks.

    """
    questions = AskedQuestions(head.user_id)
    for event in events:
        questions.take(event)
    _accept(questions.answer(request.replies, request.user_id, request.terms))
    if questions.open_ids:
        raise BadRequest("An approval that this turn waits for has no response")


def _accept(rejection: Rejection | None) -> None:
    """Check what a turn says to the answers of a message.

    Raises:
        RequestRefused: it takes none of them.

    """
    if rejection is not None:
        # As where the agent repeats its turns: a message names no question that never was.
        is_unknown = rejection is Rejection.UNKNOWN
        raise http_error_for(Rejection.CLOSED if is_unknown else rejection)


async def _follow(
    app_context: AppContext,
    context: RequestContext,
    request: ResumeRequest,
    options: StreamOptions,
    holder: Holder,
    receive: Receive,
    send: Send,
    key: ChatKey,
) -> bool:
    """Read the rest of a turn that runs."""
    assert app_context.turn_log is not None
    with app_context.session_groups.member(context.session_key) as member:
        return await stream(
            app_context,
            context,
            FollowingProtocol(request, member),
            reader_limits(app_context.limits),
            receive,
            send,
            agent_request=request,
            member=member,
            holder=holder,
            options=options,
            log_reader=LogTransport(app_context.turn_log, key),
        )
