"""The endpoints that run one short operation of the agent: stop, answer, messages."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, ClassVar, Final, TypeVar

import msgspec
import structlog
from msgspec import Meta, Raw, Struct
from starlette.types import Receive, Send

from turnwire.config.effective import agent_auth
from turnwire.core import steps
from turnwire.core.approvals import APPROVAL_ID_MAX
from turnwire.core.body.answer import check_answer
from turnwire.core.operations import Operation, OperationName, StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import (
    AnswerRequest,
    Channel,
    HistoryRequest,
    QuestionReply,
    StopRequest,
)
from turnwire.core.steps import Steps
from turnwire.core.ui_stream.messages import ui_messages_in_steps
from turnwire.errors import BadRequest, Unavailable
from turnwire.relay.agent_call import NotReachedError, OperationCall
from turnwire.relay.memory_budget import Holder
from turnwire.relay.registry import RequestRegistry
from turnwire.relay.reply import Reply
from turnwire.relay.rounds import run_in_slices
from turnwire.relay.turn_log.port import TurnLog, chat_key
from turnwire.web.auth.access import Role
from turnwire.web.request import WhileClientWaits, reserve
from turnwire.web.routes import agent_session, approval_profile
from turnwire.web.routes.agent_target import (
    check_support,
    http_error_for,
    http_error_for_status,
    target_for,
)
from turnwire.web.routes.endpoint import SESSION_PATH, Endpoint, RequestContext

_log = structlog.get_logger("turnwire.http")

BODY_BYTES: Final = 262_144
"""Largest body of these requests."""

LIMIT: Final = 100
LIMIT_MAX: Final = 500
"""Messages of the history in one response: default and maximum."""

JSON_HEADERS: Final = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}

Result = TypeVar("Result")
Converted = TypeVar("Converted")

_Id = Annotated[str, Meta(min_length=1, max_length=512)]


class _StopBody(Struct, rename="camel"):
    turn_id: _Id | None = None


class _AnswerBody(Struct, rename="camel"):
    question_id: _Id
    answer: Raw
    approval_id: Annotated[str, Meta(min_length=1, max_length=APPROVAL_ID_MAX)] | None = None


# Made once: a `Struct` that two threads read for the first time at once ends the process.
_stop_body = msgspec.json.Decoder(_StopBody).decode
_answer_body = msgspec.json.Decoder(_AnswerBody).decode


class _StopReply(Struct, rename="camel"):
    stopped: bool
    turn_id: str | None
    reason: str
    waited_ms: int


Body = TypeVar("Body", bound=Struct)


def accepted(result: Result | Rejection) -> Result:
    """Return the result of an operation.

    Raises:
        RequestRefused: it was rejected.

    """
    if isinstance(result, Rejection):
        raise http_error_for(result)
    return result


class OperationEndpoint(Endpoint):
    """Base of endpoints that run an `Operation` on the agent and answer with its result."""

    min_role = Role.COLLABORATOR

    operation: ClassVar[OperationName]
    """What the wire must have."""

    is_logged: ClassVar[bool] = False
    """Whether the turn log can do it for a wire that does not have it."""

    @property
    def registry(self) -> RequestRegistry:
        """The registry that counts these requests, and whose limits apply to them."""
        return self.app_context.operations

    async def serve(self, context: RequestContext, receive: Receive, send: Send) -> None:
        """Answer the request, and occupy a slot until the client has taken the answer.

        Raises:
            NotSupported: the agent's wire has no such operation. The agent is not dialled.

        """
        if self.turn_log is None:
            check_support(self.app_context, self.operation)
        with (
            self.registry.slot(context.user_id),
            self.app_context.budget.holder(context.user_id) as holder,
        ):
            await self.respond(context, holder, receive, send)

    @property
    def turn_log(self) -> TurnLog | None:
        """What carries the operation out, as the agent cannot; None: the agent does."""
        has_own = self.operation in self.app_context.dialect.operations
        return None if has_own or not self.is_logged else self.app_context.turn_log

    @abstractmethod
    async def respond(
        self, context: RequestContext, holder: Holder, receive: Receive, send: Send
    ) -> None:
        """Answer a request that has a slot. `holder` counts the bytes that the request holds.

        Raises:
            RequestRefused: answer with this HTTP error instead.

        """

    async def run_operation(
        self,
        context: RequestContext,
        holder: Holder,
        operation: Operation[Result],
        convert: Callable[[Result], Steps[Converted]],
    ) -> Converted:
        """Run an operation on the agent, and return its converted result. `convert` works in steps.

        The agent is not dialled for a result that is known already.

        Raises:
            RequestRefused: the agent's side rejects the operation, or cannot be reached.

        """
        app_context = self.app_context
        if operation.result is not None:
            known = accepted(operation.result)
            return await run_in_slices(app_context.dialler.rounds, convert(known))
        agent_call = OperationCall(operation, holder, app_context.dialler.rounds)
        target = target_for(app_context, context, operation.connect_request())
        dial_s = app_context.settings.dial_s
        try:
            with app_context.session_groups.operation(context.session_key, context.user_id):
                result = await agent_call.run(app_context.transport, target, convert, dial_s=dial_s)
        except NotReachedError as exc:
            app_context.telemetry.dial_failures.labels(exc.why.value).inc()
            if exc.status is not None:
                raise http_error_for_status(
                    exc.status,
                    agent_auth(app_context.settings),
                    is_answer=app_context.transport.status_is_answer,
                    retry_after_s=exc.retry_after_s,
                ) from exc
            raise Unavailable(f"the agent was not reached: {exc}") from exc
        return accepted(result)

    async def read(
        self,
        context: RequestContext,
        holder: Holder,
        receive: Receive,
        decode: Callable[[bytes], Body],
    ) -> Body:
        """Read and decode a small body. A request without a body counts as `{}`.

        Raises:
            RequestRefused: the body has another shape, or is not declared as JSON.

        """
        request = context.request
        is_empty = not request.headers(b"content-type") and not request.has_body
        body = b"" if is_empty else await request.body(receive, BODY_BYTES, holder)
        reserve(holder, 0)  # the body is complete, and small
        try:
            return decode(body or b"{}")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
            raise BadRequest("The body is not valid JSON, or has not the right fields") from exc

    async def reply(
        self,
        context: RequestContext,
        holder: Holder,
        body: Sequence[bytes],
        status: int,
        send: Send,
        headers: Mapping[str, str] = JSON_HEADERS,
    ) -> None:
        """Send these pieces, until the client has taken them or has stalled for too long."""
        request = context.request
        request.trace.answered(status)
        _log.info(
            "answered",
            route=self.route,
            status=status,
            session_id=request.session_id,
            user_id=context.user_id,
            request_id=request.id,
            client=request.client,
            seconds=round(asyncio.get_running_loop().time() - context.arrived, 3),
        )
        reply = Reply(
            send,
            status,
            {**headers, "x-request-id": request.id},
            holder=holder,
            client_socket=request.client_socket,
        )
        reply.begin(body)
        del body  # the caller dropped it, too: a slow client may take minutes
        if not await reply.finish(self.app_context.settings.stall_s):
            _log.info("client too slow", route=self.route, request_id=request.id)


class StopTurn(OperationEndpoint):
    """`POST /api/sessions/{session_id}/stop`: answers when the running turn is over."""

    route = "stop"
    operation = OperationName.STOP
    is_logged = True
    path = f"{SESSION_PATH}/stop"

    async def respond(
        self, context: RequestContext, holder: Holder, receive: Receive, send: Send
    ) -> None:
        body = await self.read(context, holder, receive, _stop_body)
        channel = self.channel(context, context.request.query.get("chatId"))
        if self.turn_log is None:
            receipt = await self._stop(context, holder, channel, body.turn_id)
        else:
            key = chat_key(context.session_key, channel)
            receipt = accepted(await self.turn_log.stop(key, body.turn_id))
        waited_s = asyncio.get_running_loop().time() - context.arrived
        reply = _StopReply(receipt.stopped, receipt.turn_id, receipt.reason, round(waited_s * 1000))
        await self.reply(context, holder, [msgspec.json.encode(reply)], 200, send)

    async def _stop(
        self, context: RequestContext, holder: Holder, channel: Channel, turn_id: str | None
    ) -> StopResult:
        stop = StopRequest(
            user_id=context.user_id,
            session_id=context.request.session_id,
            channel=channel,
            turn_id=turn_id,
            init_s=self.app_context.settings.dial_s,
            verdict_s=self.app_context.settings.verdict_s,
        )
        return await self.run_operation(
            context, holder, self.app_context.dialect.stop(stop), steps.done
        )


class AnswerQuestion(OperationEndpoint):
    """`POST /api/sessions/{session_id}/answer`: answers 202 when the agent has the answer."""

    route = "answer"
    operation = OperationName.ANSWER
    is_logged = True
    path = f"{SESSION_PATH}/answer"

    async def respond(
        self, context: RequestContext, holder: Holder, receive: Receive, send: Send
    ) -> None:
        body = await self.read(context, holder, receive, _answer_body)
        rounds = self.app_context.dialler.rounds
        await run_in_slices(rounds, check_answer(bytes(body.answer)))
        settings = self.app_context.settings
        channel = self.channel(context, context.request.query.get("chatId"))
        subject = approval_profile.subject(settings, context, body.question_id, body.approval_id)
        reply = QuestionReply(body.question_id, body.answer, subject)
        if self.turn_log is None:
            await self._answer(context, holder, channel, reply)
        else:
            key = chat_key(context.session_key, channel)
            accepted(await self.turn_log.answer(key, [reply], context.user_id))
        await self.reply(context, holder, [b"{}"], 202, send)

    async def _answer(
        self, context: RequestContext, holder: Holder, channel: Channel, reply: QuestionReply
    ) -> None:
        settings = self.app_context.settings
        answer = AnswerRequest(
            user_id=context.user_id,
            session_id=context.request.session_id,
            channel=channel,
            reply=reply,
            terms=approval_profile.terms(settings),
            init_s=settings.dial_s,
            verdict_s=settings.verdict_s,
        )
        await self.run_operation(
            context, holder, self.app_context.dialect.answer(answer), steps.done
        )


class Messages(OperationEndpoint):
    """`GET /api/sessions/{session_id}/messages`: the history, for `useChat({messages})`."""

    min_role = Role.VIEWER
    route = "messages"
    operation = OperationName.HISTORY
    path = f"{SESSION_PATH}/messages"

    async def serve(self, context: RequestContext, receive: Receive, send: Send) -> None:
        self.app_context.admission.admit()  # a long history takes time of the loop
        await super().serve(context, receive, send)

    async def respond(
        self,
        context: RequestContext,
        holder: Holder,
        receive: Receive,  # noqa: ARG002 (a GET has no body)
        send: Send,
    ) -> None:
        channel = self.channel(context, context.request.query.get("chatId"))
        history_request = HistoryRequest(
            user_id=context.user_id,
            session_id=context.request.session_id,
            channel=channel,
            limit=self._limit(context),
            before=context.request.query.get("before"),
            init_s=self.app_context.settings.dial_s,
            verdict_s=self.app_context.settings.verdict_s,
            options=self.app_context.dialect_options,
            agent_session=await agent_session.find(self.app_context, context, channel),
            is_answer_under_way=await agent_session.is_answer_under_way(
                self.app_context, context, channel
            ),
        )
        convert = partial(ui_messages_in_steps, finish=self._finish(context))
        async with WhileClientWaits(context.request):
            body = await self.run_operation(
                context, holder, self.app_context.dialect.read_history(history_request), convert
            )
        response = self.reply(context, holder, body, 200, send)
        del body  # a slow client may take minutes
        await response

    def _limit(self, context: RequestContext) -> int:
        value = context.request.query.get("limit", str(LIMIT))
        if not (value.isascii() and value.isdigit() and len(value) < len("10000") and int(value)):
            raise BadRequest(f"limit is a number from 1 to {LIMIT_MAX}")
        return min(int(value), LIMIT_MAX)

    def _finish(self, context: RequestContext) -> bool:
        """Whether the metadata says which turns failed or were stopped."""
        value = context.request.query.get("finish", "false")
        if value not in {"true", "false"}:
            raise BadRequest("finish is true or false")
        return value == "true"
