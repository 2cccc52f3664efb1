"""The endpoints that ask the agent something beside a turn: stop, answer, messages."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, TypeVar

import msgspec
import structlog
from msgspec import Meta, Raw, Struct
from starlette.types import Receive, Send

from turnwire.core import steps
from turnwire.core.approval import ID_MAX
from turnwire.core.errand import Answer, Errand, Recall, Stop
from turnwire.core.message import telling
from turnwire.core.refusal import Refusal
from turnwire.core.steps import Steps
from turnwire.errors import BadRequest, Unavailable
from turnwire.relay.budget import Holder
from turnwire.relay.errand import ErrandRun, NotReachedError
from turnwire.relay.reply import Reply
from turnwire.relay.streams import Streams
from turnwire.web import profile
from turnwire.web.access import Role
from turnwire.web.calling import call, dial_refused, refused
from turnwire.web.endpoint import SESSION_PATH, Endpoint, Visit
from turnwire.web.request import WhileItWaits, keep

_log = structlog.get_logger("turnwire.http")

BODY_BYTES: Final = 262_144
"""Largest body of these requests."""

LIMIT: Final = 100
LIMIT_MAX: Final = 500
"""Messages of the history at a time."""

JSON_HEADERS: Final = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}

Result = TypeVar("Result")
Made = TypeVar("Made")

_Id = Annotated[str, Meta(min_length=1, max_length=512)]


class _StopBody(Struct, rename="camel"):
    turn_id: _Id | None = None


class _AnswerBody(Struct, rename="camel"):
    question_id: _Id
    answer: Raw
    approval_id: Annotated[str, Meta(min_length=1, max_length=ID_MAX)] | None = None


class _Receipt(Struct, rename="camel"):
    stopped: bool
    turn_id: str | None
    reason: str
    waited_ms: int


Body = TypeVar("Body", bound=Struct)


class ErrandEndpoint(Endpoint):
    """Carries an errand to the agent and waits for what comes of it."""

    least = Role.COLLABORATOR

    @property
    def places(self) -> Streams:
        """Among what these requests are counted."""
        return self.gateway.errands

    async def serve(self, visit: Visit, receive: Receive, send: Send) -> None:
        """Answer in a place of its own, and keep that until the client took the answer."""
        with (
            self.places.place(visit.user_id),
            self.gateway.budget.holder(visit.user_id) as holder,
        ):
            await self.carry(visit, holder, receive, send)

    @abstractmethod
    async def carry(self, visit: Visit, holder: Holder, receive: Receive, send: Send) -> None:
        """Answer a request that has its place. `holder` is told what is held for it.

        Raises:
            Refused: with a status instead.

        """

    async def run(
        self,
        visit: Visit,
        holder: Holder,
        errand: Errand[Result],
        make: Callable[[Result], Steps[Made]],
    ) -> Made:
        """See an errand through, and `make` something of what comes of it.

        Raises:
            Refused: the agent's side refuses it, or cannot be reached.

        """
        gateway = self.gateway
        running = ErrandRun(errand, holder)
        dial_s = gateway.settings.dial_s
        try:
            with gateway.rooms.errand(visit.room, visit.user_id):
                result = await running.run(
                    gateway.dialler, call(gateway, visit), make, dial_s=dial_s
                )
        except NotReachedError as exc:
            gateway.telemetry.dial_failures.labels(exc.why.value).inc()
            if exc.status is not None:
                raise dial_refused(exc.status, gateway.settings.agent_auth) from exc
            raise Unavailable(f"the agent was not reached: {exc}") from exc
        if isinstance(result, Refusal):
            raise refused(result)
        return result

    async def read(self, visit: Visit, holder: Holder, receive: Receive, shape: type[Body]) -> Body:
        """Read a small body of this shape; none at all is an empty one.

        Raises:
            Refused: it is of another shape, or not declared as JSON.

        """
        request = visit.request
        unsaid = not request.headers(b"content-type") and not request.has_body
        body = b"" if unsaid else await request.body(receive, BODY_BYTES, holder)
        keep(holder, 0)  # it is small, and whole
        try:
            return msgspec.json.decode(body or b"{}", type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
            raise BadRequest("The body is not valid JSON, or has not the right fields") from exc

    async def reply(
        self,
        visit: Visit,
        holder: Holder,
        body: Sequence[bytes],
        status: int,
        send: Send,
        headers: Mapping[str, str] = JSON_HEADERS,
    ) -> None:
        """Answer with these pieces, until the client took them, or nothing for too long."""
        request = visit.request
        request.trace.answered(status)
        _log.info(
            "answered",
            route=self.route,
            status=status,
            session_id=request.session_id,
            user_id=visit.user_id,
            request_id=request.id,
            client=request.client,
            seconds=round(asyncio.get_running_loop().time() - visit.arrived, 3),
        )
        reply = Reply(
            send,
            status,
            {**headers, "x-request-id": request.id},
            holder=holder,
            client_socket=request.client_socket,
        )
        reply.begin(body)
        del body  # in the caller, too, it has no name: a slow client may take minutes
        if not await reply.finish(self.gateway.settings.stall_s):
            _log.info("client too slow", route=self.route, request_id=request.id)


class StopTurn(ErrandEndpoint):
    """`POST /api/sessions/{session_id}/stop`: the running turn is over when this answers."""

    route = "stop"
    path = f"{SESSION_PATH}/stop"

    async def carry(self, visit: Visit, holder: Holder, receive: Receive, send: Send) -> None:
        body = await self.read(visit, holder, receive, _StopBody)
        channel_type, channel_id = self.channel(visit, visit.request.query.get("chatId"))
        stop = Stop(
            user_id=visit.user_id,
            channel_type=channel_type,
            channel_id=channel_id,
            turn_id=body.turn_id,
            init_s=self.gateway.settings.dial_s,
            verdict_s=self.gateway.settings.verdict_s,
        )
        receipt = await self.run(visit, holder, self.gateway.dialect.stop(stop), steps.none)
        waited_s = asyncio.get_running_loop().time() - visit.arrived
        told = _Receipt(receipt.stopped, receipt.turn_id, receipt.reason, round(waited_s * 1000))
        await self.reply(visit, holder, [msgspec.json.encode(told)], 200, send)


class AnswerQuestion(ErrandEndpoint):
    """`POST /api/sessions/{session_id}/answer`: 202 when the agent has it."""

    route = "answer"
    path = f"{SESSION_PATH}/answer"

    async def carry(self, visit: Visit, holder: Holder, receive: Receive, send: Send) -> None:
        body = await self.read(visit, holder, receive, _AnswerBody)
        self._check(body.answer)
        settings = self.gateway.settings
        channel_type, channel_id = self.channel(visit, visit.request.query.get("chatId"))
        answer = Answer(
            user_id=visit.user_id,
            channel_type=channel_type,
            channel_id=channel_id,
            question_id=body.question_id,
            answer=body.answer,
            subject=profile.subject(settings, visit, body.question_id, body.approval_id),
            terms=profile.terms(settings),
            init_s=settings.dial_s,
            verdict_s=settings.verdict_s,
        )
        await self.run(visit, holder, self.gateway.dialect.answer(answer), steps.none)
        await self.reply(visit, holder, [b"{}"], 202, send)

    def _check(self, answer: Raw) -> None:
        """Look into what is passed on: of a `Raw` it is not known yet that it is whole."""
        try:
            msgspec.json.decode(answer)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
            raise BadRequest("The answer is not valid JSON") from exc


class Messages(ErrandEndpoint):
    """`GET /api/sessions/{session_id}/messages`: the history, for `useChat({messages})`."""

    least = Role.VIEWER
    route = "messages"
    path = f"{SESSION_PATH}/messages"

    async def serve(self, visit: Visit, receive: Receive, send: Send) -> None:
        self.gateway.admission.admit()  # a long history takes the loop's time
        await super().serve(visit, receive, send)

    async def carry(self, visit: Visit, holder: Holder, receive: Receive, send: Send) -> None:  # noqa: ARG002 (a GET has no body)
        channel_type, channel_id = self.channel(visit, visit.request.query.get("chatId"))
        recall = Recall(
            user_id=visit.user_id,
            channel_type=channel_type,
            channel_id=channel_id,
            limit=self._limit(visit),
            before=visit.request.query.get("before"),
            init_s=self.gateway.settings.dial_s,
            verdict_s=self.gateway.settings.verdict_s,
        )
        make = partial(telling, finish=self._finish(visit))
        async with WhileItWaits(visit.request):
            told = await self.run(visit, holder, self.gateway.dialect.recall(recall), make)
        replying = self.reply(visit, holder, told, 200, send)
        del told  # a slow client may take minutes
        await replying

    def _limit(self, visit: Visit) -> int:
        given = visit.request.query.get("limit", str(LIMIT))
        if not (given.isascii() and given.isdigit() and len(given) < len("10000") and int(given)):
            raise BadRequest(f"limit is a number from 1 to {LIMIT_MAX}")
        return min(int(given), LIMIT_MAX)

    def _finish(self, visit: Visit) -> bool:
        """Whether to tell how each turn ended."""
        given = visit.request.query.get("finish", "false")
        if given not in {"true", "false"}:
            raise BadRequest("finish is true or false")
        return given == "true"
