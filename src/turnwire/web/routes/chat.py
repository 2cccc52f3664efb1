"""`POST /api/sessions/{session_id}/chat`: one turn.

To follow a request, read five files in order: this one, `relay/turn_stream.py`,
`core/turn/turn.py`, `dialects/v2/turn.py` and `core/ui_stream/translator.py`.
A request that is refused before its stream begins gets an HTTP error. After that, the outcome of
the `Turn` says how the stream ended.
"""

import os
from collections.abc import Awaitable
from contextlib import nullcontext
from functools import partial
from typing import Final

import msgspec
import structlog
from starlette.types import Receive, Send

from turnwire.core.agent import AgentProtocol
from turnwire.core.body.client_history import ClientHistory
from turnwire.core.body.continuation import Continuation
from turnwire.core.body.prompt import Prompt, extract, extract_in_steps
from turnwire.core.bounds import LONG_BYTES
from turnwire.core.operations import OperationName
from turnwire.core.rejection import RejectedError, Rejection
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.turn.headers import hold_for_init
from turnwire.core.turn.limits import DisconnectPolicy
from turnwire.core.turn_log.entries import Head
from turnwire.errors import AnotherTurn, Unavailable
from turnwire.relay.interrupted import Interruptible
from turnwire.relay.memory_budget import SMALL_BYTES, Holder
from turnwire.relay.rounds import run_in_slices
from turnwire.relay.turn_log.port import chat_key
from turnwire.web.auth.access import Role
from turnwire.web.context import disconnect_limits
from turnwire.web.request import BUDGET_SPENT, WhileClientWaits, reserve
from turnwire.web.routes import (
    agent_session,
    approval_profile,
    logged_continuation,
    workflow_transport,
)
from turnwire.web.routes.agent_target import check_support, http_error_for
from turnwire.web.routes.endpoint import CHAT_PATH, Endpoint, RequestContext
from turnwire.web.routes.logged_turn import LoggedTurn
from turnwire.web.routes.stream_response import stream

_log = structlog.get_logger("turnwire.http")
_NOTHING: Final[nullcontext[None]] = nullcontext()
"""One for all: each open stream is in it."""


class Chat(Endpoint):
    """Starts a turn with a prompt, or answers the questions of a waiting turn, and streams it."""

    min_role = Role.COLLABORATOR
    route = "chat"
    path = CHAT_PATH

    async def serve(self, context: RequestContext, receive: Receive, send: Send) -> None:
        app_context = self.app_context
        app_context.admission.admit()
        with (
            app_context.streams.slot(context.user_id),  # first: the caps bound the bytes of bodies
            app_context.budget.holder(context.user_id) as holder,
        ):
            prompt_id = os.urandom(16).hex()
            parsed = await self._read(context, prompt_id, receive, holder)
            if parsed.conversation is not None and parsed.conversation.left_out:
                app_context.telemetry.history_left_out.inc(
                    sum(parsed.conversation.left_out.values())
                )
                _log.info(
                    "parts of the conversation were left out",
                    left_out=dict(parsed.conversation.left_out),
                    session_id=context.request.session_id,
                    user_id=context.user_id,
                    request_id=context.request.id,
                )
            response: Awaitable[None]
            if isinstance(parsed, Prompt):
                response = self._prompt(context, prompt_id, parsed, holder, receive, send)
            elif app_context.continues_in_log:
                response = self._continue_logged(context, parsed, holder, receive, send)
            else:
                response = self._continue_turn(context, parsed, holder, receive, send)
            del parsed  # a stream may last for hours
            await response

    async def _read(
        self, context: RequestContext, prompt_id: str, receive: Receive, holder: Holder
    ) -> Prompt | Continuation:
        """Read and parse the body. A long body is parsed in steps, one at a time for each user.

        The message of a prompt to which the client gave no id gets one that is made of `prompt_id`.
        """
        app_context = self.app_context
        body = await context.request.body(receive, app_context.settings.body_bytes, holder)
        history = self._history(context, prompt_id)
        if len(body) <= LONG_BYTES:
            return extract(body, app_context.attachments, history)
        reserve(holder, 0)
        reservation = holder.reserve()
        if not reservation.set(len(body)):
            raise Unavailable(BUDGET_SPENT)
        try:
            async with (
                WhileClientWaits(context.request),
                Interruptible(Unavailable(BUDGET_SPENT)) as work,
            ):
                reservation.on_end = work.end
                async with holder.user.work_lock():
                    return await run_in_slices(
                        app_context.dialler.rounds,
                        extract_in_steps(body, app_context.attachments, history),
                    )
        finally:
            reservation.release()

    def _history(self, context: RequestContext, prompt_id: str) -> ClientHistory | None:
        history = self.app_context.history
        if history is None:
            return None
        pending = partial(approval_profile.pending_calls, self.app_context.settings, context)
        message_id = f"{prompt_id}:prompt"  # the answer has the prompt's own
        return msgspec.structs.replace(history, pending=pending, prompt_id=message_id)

    async def _prompt(
        self,
        context: RequestContext,
        prompt_id: str,
        prompt: Prompt,
        holder: Holder,
        receive: Receive,
        send: Send,
    ) -> None:
        """Run a new turn.

        Raises:
            AnotherTurn: a turn of this chat runs, and the agent has no queue.

        """
        app_context = self.app_context
        if prompt.size > SMALL_BYTES or holder.request_reservation is not None:
            reserve(holder, prompt.size)
        channel = self.channel(context, prompt.chat_id)
        prompt_request = PromptRequest(
            text=prompt.text,
            prompt_id=prompt_id,
            client_message_id=prompt.message_id,
            channel=channel,
            user_id=context.user_id,
            session_id=context.request.session_id,
            attachments=prompt.attachments,
            regenerates=prompt.regenerates,
            replaces=prompt.replaces,
            has_earlier=prompt.has_earlier,
            conversation=prompt.conversation,
            options=app_context.dialect_options,
        )
        workflow = workflow_transport.detect(context.request, prompt_id, prompt.chat_id)
        limits = app_context.limits if workflow is None else workflow.limits(app_context.limits)
        limits = disconnect_limits(
            app_context.settings, limits, context.request.query.get("onDisconnect")
        )
        approvals = approval_profile.approvals(
            app_context, context, counts_chunks=workflow is not None
        )
        options = msgspec.structs.replace(
            app_context.stream_options,
            taken_id=prompt_request.client_message_id,
            approvals=approvals,
            resets=approval_profile.knows_resets(context, counts_chunks=workflow is not None),
            skip=None if workflow is None else workflow.skip,
        )
        policy = limits.on_disconnect
        if holder.request_reservation is None:
            logged = await self._claim(context, prompt_request, policy)
        else:
            async with Interruptible(Unavailable(BUDGET_SPENT)) as work:
                holder.request_reservation.on_end = work.end
                logged = await self._claim(context, prompt_request, policy)
        with (
            _NOTHING if logged is None else logged,
            app_context.session_groups.member(context.session_key) as member,
        ):
            # After the claim: the turn that ran until now may have kept another session.
            session = await agent_session.find(app_context, context, channel)
            prompt_request = msgspec.structs.replace(prompt_request, agent_session=session)
            protocol = app_context.dialect.prompt(prompt_request, member)
            response = stream(
                app_context,
                context,
                protocol,
                limits,
                receive,
                send,
                agent_request=prompt_request,
                member=member,
                holder=holder,
                prompt_reservation=holder.request_reservation,
                options=options,
                headers=() if workflow is None else workflow.headers,
                logged=logged,
                on_end=lambda ended: agent_session.forget_unknown(
                    app_context.dialect, session, ended.dial_status
                ),
            )
            # Now only the protocol refers to the text and the files, until it has sent them.
            del prompt_request, prompt
            await response

    async def _claim(
        self, context: RequestContext, prompt_request: PromptRequest, policy: DisconnectPolicy
    ) -> LoggedTurn | None:
        """Count a prompt, and then claim its chat. None: the turn log does not keep the turn.

        This is the last step before the turn, since a request that is refused shall claim nothing.
        If the agent has no queue, the claim waits for a turn that is being ended; without its
        client too, if the turn would go on without it (`policy`).

        Raises:
            TooManyTurns: the user has no turn left in this minute.
            AnotherTurn: a turn of this chat runs, and the agent has no queue.
            ClientGoneError: the client disconnected.

        """
        app_context = self.app_context
        await app_context.rates.take(context.user_id)
        if app_context.turn_log is None:
            return None
        key = chat_key(context.session_key, prompt_request.channel)
        head = Head(
            prompt_request.prompt_id, prompt_request.user_id, prompt_request.client_message_id
        )
        logged = LoggedTurn(app_context)
        if not app_context.continues_in_log:
            return logged if await logged.claim(app_context.turn_log, key, head) else None
        renews = prompt_request.regenerates or prompt_request.replaces is not None
        is_dropped = policy is DisconnectPolicy.ABORT
        async with WhileClientWaits(context.request) if is_dropped else _NOTHING:
            is_claimed = await logged.claim_patiently(
                app_context.patient_claims, app_context.turn_log, key, head, renews=renews
            )
        if not is_claimed:
            raise AnotherTurn("a turn of this chat runs")
        return logged

    async def _continue_logged(
        self,
        context: RequestContext,
        continuation: Continuation,
        holder: Holder,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer the questions of a turn that the turn log keeps, and stream the rest of it."""
        reserve(holder, continuation.size)
        channel = self.channel(context, continuation.chat_id)
        response = logged_continuation.stream_rest(
            self.app_context, context, continuation, channel, holder, receive, send
        )
        del continuation  # a stream may last for hours
        await response

    def _resumed(self, request: ResumeRequest, member: Member) -> AgentProtocol:
        """Return the protocol that sends the answers.

        Raises:
            RequestRefused: they cannot be accepted, and that is known before a dial.

        """
        try:
            return self.app_context.dialect.resume(request, member)
        except RejectedError as exc:
            raise http_error_for(exc.rejection) from exc

    async def _continue_turn(
        self,
        context: RequestContext,
        continuation: Continuation,
        holder: Holder,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer the questions that the turn waits for, and stream the rest of the turn."""
        app_context = self.app_context
        has_conversation = continuation.conversation is not None
        if not has_conversation:
            check_support(app_context, OperationName.RESUME)
        reserve(holder, continuation.size)
        settings = app_context.settings
        channel = self.channel(context, continuation.chat_id)
        approvals = approval_profile.approvals(app_context, context)
        resume_request = ResumeRequest(
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
        limits = disconnect_limits(
            settings, app_context.limits, context.request.query.get("onDisconnect")
        )
        limits = hold_for_init(limits, resume_request.init_s)
        options = msgspec.structs.replace(
            app_context.stream_options,
            client_copy=continuation.client_copy,
            approvals=approvals,
            resets=approval_profile.knows_resets(context),
        )
        # An agent that has no conversation of its own cannot know what was answered already.
        replies = resume_request.replies if has_conversation else ()
        with app_context.session_groups.member(context.session_key) as member:
            protocol = self._resumed(resume_request, member)
            with app_context.used_approvals.use(context.session_key, replies) as use:
                response = stream(
                    app_context,
                    context,
                    protocol,
                    limits,
                    receive,
                    send,
                    agent_request=resume_request,
                    member=member,
                    holder=holder,
                    prompt_reservation=holder.request_reservation if has_conversation else None,
                    options=options,
                    on_end=lambda ended: use.ended(ended.dial_failure),
                )
                # Now only the protocol refers to the conversation, until it has sent it.
                del resume_request, continuation, protocol
                if not await response:
                    raise http_error_for(Rejection.NO_TURN)
