"""The WebSocket server: one session for each socket, as `v2` has it."""

import asyncio
import hashlib
import logging
import re
import socket as sockets
from contextlib import AsyncExitStack, suppress
from typing import Final, Self
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import uuid4
from weakref import WeakKeyDictionary

import msgspec
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from turnwire_agent import metrics
from turnwire_agent.access.access import Access, Caller
from turnwire_agent.access.refusal import RefusedError
from turnwire_agent.host.commands import AbortCommand, AnswerCommand, Wanted
from turnwire_agent.host.expiring import EXPIRED, Expiring
from turnwire_agent.host.live_session import LiveSession
from turnwire_agent.host.replica import FullError, Replica
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.journal.port import TooManyCommandsError, UnavailableError
from turnwire_agent.session.codec import BrokenEventError, NewerEventError
from turnwire_agent.session.events import Prompted
from turnwire_agent.v2.frames import PONG, refused
from turnwire_agent.v2.requests import Abort, Answer, Ping, Prompt, Unreadable, parse

LOGGER: Final = logging.getLogger("turnwire_agent.host")
PATH: Final = re.compile(r"/api/sessions/([^/]+)/(ws|access)")
SESSION_ID: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.:-]{1,128}")
PROMPT_ID_KEPT: Final = 256
"""Most characters of a prompt's id that the id of its command repeats."""
USER_MAX: Final = 512
"""Most characters of a user's id."""
CLOSE_S: Final = 1.0
KEEPALIVE: Final = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
"""A peer is gone after a minute of silence and one without an answer: seconds, and tries."""
TOO_MANY: Final = "Too many prompts wait"
NOT_KEPT: Final = "The prompt could not be kept"
NO_SESSION: Final = "no such session\n"
NOT_READ: Final = "The prompt cannot be read"


class HostServer:
    """Sockets of gateways. It is entered and left with `async with`."""

    def __init__(
        self,
        replica: Replica,
        listening: sockets.socket,
        access: Access,
        settings: HostSettings,
    ) -> None:
        self._replica = replica
        self._listening = listening
        self._access = access
        self._settings = settings
        self._stack = AsyncExitStack()
        self._server: Server | None = None
        self._callers: WeakKeyDictionary[ServerConnection, Caller] = WeakKeyDictionary()
        """Of the sockets that were let in. Some of them never open."""
        self._expiring = Expiring()
        self._closing: asyncio.Task[None] | None = None
        self._open = 0
        """How many sockets are open."""

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._replica)
        self._closing = asyncio.create_task(self._expiring.run())
        self._server = await serve(
            self._serve,
            sock=self._listening,
            process_request=self._admit,
            compression=None,
            max_size=self._settings.frame_bytes,
            close_timeout=CLOSE_S,
            # A gateway that does not read for a while is patient, not dead: TCP and the bound of
            # what waits for a socket end those that are (`KEEPALIVE`).
            ping_interval=None,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Take no more prompts, give up the leases, and close the sockets."""
        assert self._server is not None
        assert self._closing is not None
        self._closing.cancel()
        # Not its `close`, which counts once, and would wait for gateways to leave.
        self._server.server.close()
        await self._stack.aclose()
        self._server.close(code=CloseCode.SERVICE_RESTART)
        await self._server.wait_closed()

    async def _admit(self, socket: ServerConnection, request: Request) -> Response | None:
        """Answer plainly, or let a socket open."""
        probed = await self._replica.probes.status(urlsplit(request.path).path)
        if probed is not None:
            return socket.respond(probed, "")
        session_id, route, role = _asked_for(request)
        if not SESSION_ID.fullmatch(session_id):
            return socket.respond(404, NO_SESSION)
        if len(request.headers.get_all("authorization")) > 1:
            return socket.respond(400, "two tokens\n")
        headers = {name.lower(): value for name, value in request.headers.raw_items()}
        try:
            caller = await self._access.check(headers)
        except RefusedError as refused:
            response = socket.respond(refused.refusal.status, f"{refused.refusal.message}\n")
            for name, value in refused.refusal.headers.items():
                response.headers[name] = value
            return response
        user = caller.user or _named_user(headers)
        if self._settings.private:
            try:
                is_theirs = await self._replica.is_of(session_id, user)
            except (FullError, UnavailableError, BrokenEventError, NewerEventError):
                return socket.respond(503, "try again later\n")
            if not is_theirs:
                return socket.respond(404, NO_SESSION)
        if route == "access":
            return _json(socket, {"role": "collaborator", "userId": user})
        if role != "client":
            return socket.respond(400, "role must be client\n")
        if self._open >= self._settings.sockets:
            return socket.respond(503, "too many sockets\n")
        self._callers[socket] = Caller(user, caller.expires_at)
        return None

    async def _serve(self, socket: ServerConnection) -> None:
        """Serve one socket to its end."""
        self._open += 1
        try:
            with metrics.SOCKETS.track_inprogress():
                await self._converse(socket)
        finally:
            self._open -= 1

    async def _converse(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        caller = self._callers.pop(socket, Caller())
        user = caller.user
        session_id = _asked_for(socket.request)[0]
        for head in (socket.request, socket.response):
            if head is not None:
                head.headers.clear()  # nobody reads them again, and they are large
        _set_options(socket.transport.get_extra_info("socket"))
        try:
            async with self._replica.session(session_id) as live:
                if self._settings.private and not live.state.is_of(user):
                    # It has become somebody's meanwhile.
                    await socket.close(CloseCode.POLICY_VIOLATION)
                    return
                live.join(socket, user)
                if caller.expires_at is not None:
                    self._expiring.add(socket, live, caller.expires_at)
                try:
                    with suppress(ConnectionClosed):
                        async for data in socket:
                            await self._take(live, socket, user, data)
                finally:
                    self._expiring.remove(socket)
                    live.leave(socket)
        except FullError:
            await socket.close(CloseCode.TRY_AGAIN_LATER)
        except UnavailableError as error:
            metrics.JOURNAL_ERRORS.inc()
            LOGGER.warning("session: session=%s outcome=unavailable: %s", session_id, error)
            await socket.close(CloseCode.TRY_AGAIN_LATER)
        except TooManyCommandsError:  # of a stop or an answer, which has no frame that refuses it
            LOGGER.warning("session: session=%s outcome=too-many-commands", session_id)
            await socket.close(CloseCode.TRY_AGAIN_LATER)
        except (BrokenEventError, NewerEventError) as error:
            LOGGER.critical("session: session=%s outcome=refused: %s", session_id, error)
            await socket.close(CloseCode.INTERNAL_ERROR)

    async def _take(
        self, live: LiveSession, socket: ServerConnection, user: str | None, data: str | bytes
    ) -> None:
        """Ask the session for what a frame asks."""
        match parse(data):
            case Prompt() | Answer() | Unreadable() as asked if self._expiring.has_expired(socket):
                if not isinstance(asked, Answer):
                    live.send(socket, refused(EXPIRED, asked.prompt_id))
                await socket.close(CloseCode.POLICY_VIOLATION, EXPIRED)
            case Prompt() as prompt:
                await self._prompt(live, socket, user, prompt)
            case Abort(turn_id=turn_id, prompt_id=prompt_id):
                wanted = AbortCommand(turn_id=turn_id, prompt_id=prompt_id or None, user_id=user)
                await self._put(live, wanted)
            case Answer(question_id=question_id, answer=answer, turn_id=turn_id):
                await self._put(
                    live,
                    AnswerCommand(
                        question_id=question_id, answer=answer, turn_id=turn_id, user_id=user
                    ),
                )
            case Ping():
                live.send(socket, PONG)
            case Unreadable(prompt_id):
                metrics.REFUSED_PROMPTS.labels("unreadable").inc()
                LOGGER.warning("prompt: session=%s outcome=unreadable", live.id)
                live.send(socket, refused(NOT_READ, prompt_id))
            case None:
                pass  # what makes no sense changes nothing

    async def _prompt(
        self, live: LiveSession, socket: ServerConnection, user: str | None, prompt: Prompt
    ) -> None:
        prompted = Prompted(
            entry_id=f"prompt-{uuid4().hex}",
            prompt_id=prompt.prompt_id,
            client_message_id=prompt.client_message_id,
            user_id=user,
            channel=prompt.channel,
            content=prompt.content,
            attachments=prompt.attachments,
            regenerate=prompt.regenerate,
            edit=prompt.edit,
        )
        if not live.state.has_room(
            prompted, prompts=self._settings.queue, size=self._settings.queue_bytes
        ):
            metrics.REFUSED_PROMPTS.labels("queue").inc()
            live.send(socket, refused(TOO_MANY, prompt.prompt_id))
            return
        if prompt.prompt_id is not None:
            live.asks(socket, prompt.prompt_id)
        command_id = _command_id(prompt.prompt_id)
        try:
            try:
                await self._put(live, prompted, command_id)
            except UnavailableError:  # it may be written: the same id is the same command
                await self._put(live, prompted, command_id)
        except TooManyCommandsError:
            LOGGER.warning("prompt: session=%s outcome=too-many-commands", live.id)
            metrics.REFUSED_PROMPTS.labels("queue").inc()
            live.send(socket, refused(TOO_MANY, prompt.prompt_id))
        except UnavailableError as error:
            LOGGER.warning("prompt: session=%s outcome=not-kept: %s", live.id, error)
            metrics.REFUSED_PROMPTS.labels("journal").inc()
            metrics.JOURNAL_ERRORS.inc()
            live.send(socket, refused(NOT_KEPT, prompt.prompt_id))

    async def _put(self, live: LiveSession, wanted: Wanted, id_: str = "") -> None:
        await self._replica.put(live.id, id_ or uuid4().hex, wanted)


def _command_id(prompt_id: str | None) -> str:
    """Name the command of a prompt: the same prompt has the same one, and every store keeps it."""
    if not prompt_id:
        return f"prompt-{uuid4().hex}"
    if len(prompt_id) > PROMPT_ID_KEPT or "\0" in prompt_id:
        return f"prompt-sha256-{hashlib.sha256(prompt_id.encode()).hexdigest()}"
    return f"prompt-{prompt_id}"


def _set_options(tcp: sockets.socket) -> None:
    # Many small frames: without this they would wait for each other's acknowledgment.
    tcp.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
    # The machine of a gateway may be gone without a word, and its idle sockets are counted, too.
    tcp.setsockopt(sockets.SOL_SOCKET, sockets.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE:
        if hasattr(sockets, name):
            tcp.setsockopt(sockets.IPPROTO_TCP, getattr(sockets, name), value)


def _asked_for(request: Request) -> tuple[str, str, str]:
    """Session id, route and role; an id that no session has, for a path that is not ours."""
    parts = urlsplit(request.path)
    found = PATH.fullmatch(parts.path)
    if found is None:
        return "", "", ""
    role = parse_qs(parts.query).get("role", ["client"])[-1]
    return unquote(found[1]), found[2], role


def _named_user(headers: dict[str, str]) -> str | None:
    """The user that the gateway names, who has checked that."""
    return unquote(headers.get("x-turnwire-user", ""))[:USER_MAX] or None


def _json(socket: ServerConnection, body: object) -> Response:
    response = socket.respond(200, msgspec.json.encode(body).decode())
    del response.headers["content-type"]
    response.headers["content-type"] = "application/json"
    return response
