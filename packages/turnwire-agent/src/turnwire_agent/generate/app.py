"""The server as an ASGI application: `POST /v1/generate`."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Final

from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from turnwire_agent.access.access import Access
from turnwire_agent.access.refusal import UNKNOWN, Refusal, RefusedError
from turnwire_agent.generate import log
from turnwire_agent.generate.answer import Answer
from turnwire_agent.generate.call import Call, call
from turnwire_agent.generate.parts import Part, first_part, parts
from turnwire_agent.generate.question import BadQuestionError, question
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.credentials.port import Credential
from turnwire_agent.llm.events import Finish
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model

PATH: Final = "/v1/generate"
BODY_BYTES: Final = 16 * 1024 * 1024
BODY_S: Final = 60.0
"""A body that comes slower is none."""
REFUSED_BYTES: Final = 2 * BODY_BYTES
REFUSED_S: Final = 5.0
"""How much of a refused body is read away, and for how long."""

NO_JSON: Final = Refusal(
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "The body must be application/json, and not packed."
)
TOO_LARGE: Final = Refusal(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body has more than {BODY_BYTES} bytes."
)
TOO_SLOW: Final = Refusal(HTTPStatus.REQUEST_TIMEOUT, f"The body took more than {BODY_S:g} s.")
NO_MODEL: Final = Refusal(HTTPStatus.NOT_FOUND, "There is no model of this name.")
NO_PAGE: Final = Refusal(HTTPStatus.NOT_FOUND, f"There is POST {PATH}, and nothing else.")


class Served(Struct, frozen=True):
    """A model, and what proves to its provider who asks."""

    model: Model
    credential: Credential


def app(models: Mapping[str, Served], access: Access, settings: CallSettings) -> ASGIApp:
    """Make the application.

    Args:
        models: By the names that requests have.
        access: Who may ask.
        settings: Of all calls.
    """

    async def generate(request: Request) -> Response | Answer:
        begun = time.monotonic()
        chunks = request.stream()
        try:
            await access.check(request.headers)
            body = await _body(request.headers, chunks)
        except RefusedError:
            await _read_away(chunks)
            raise
        name, served, made = await asyncio.to_thread(_asked, body, models)
        progress = _Progress()
        answer = _parts(served, made, settings, progress)
        return Answer(answer, partial(progress.log, name, begun))

    starlette = Starlette(
        routes=[Route(PATH, generate, methods=["POST"])],
        exception_handlers={
            RefusedError: _refused,
            HTTPException: _no_page,
            ClientDisconnect: _gone,
            Exception: _failed,
        },
    )
    starlette.router.redirect_slashes = False
    return starlette


def _asked(body: bytes, models: Mapping[str, Served]) -> tuple[str, Served, Call]:
    """The name of the model that is asked, the model, and what it is sent.

    Raises:
        RefusedError: The body is no question to one of these models.
    """
    name = UNKNOWN
    try:
        asked = question(body)
        served = models.get(asked.model)
        if served is None:
            raise RefusedError(NO_MODEL)
        name = asked.model
        return name, served, call(asked, served.model)
    except BadQuestionError as error:
        raise RefusedError(Refusal(HTTPStatus.BAD_REQUEST, str(error)), name) from None


class _Progress:
    """How far the answer of a call is."""

    def __init__(self) -> None:
        self.parts = 0
        self.outcome = "truncated"

    def log(self, model: str, begun: float, whole: bool) -> None:  # noqa: FBT001 - for a partial
        outcome = self.outcome if whole else "gone"
        log.answered(model, outcome, self.parts, time.monotonic() - begun)


async def _parts(
    served: Served, made: Call, settings: CallSettings, progress: _Progress
) -> AsyncGenerator[Part, None]:
    losses = list[Loss](made.losses)
    settings = replace(settings, tell_losses=losses.extend)
    begun = False
    events = stream(
        served.model,
        made.request,
        served.credential,
        settings,
        made_ids=f"call-{secrets.token_hex(6)}",
    )
    async with aclosing(events):
        async for event in events:
            if not begun:
                begun = True
                progress.parts += 1
                yield first_part(tuple(losses))
            if isinstance(event, Finish):
                progress.outcome = event.reason
            elif isinstance(event, Fault):
                progress.outcome = event.kind
            for part in parts(made.event(event), served.model):
                progress.parts += 1
                yield part


async def _body(headers: Mapping[str, str], chunks: AsyncGenerator[bytes, None]) -> bytes:
    """The body of a request.

    Raises:
        RefusedError: It is no JSON, too large, or too slow.
    """
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" or "content-encoding" in headers:
        raise RefusedError(NO_JSON)
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > BODY_BYTES:
        raise RefusedError(TOO_LARGE)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in chunks:
                body += chunk
                if len(body) > BODY_BYTES:
                    raise RefusedError(TOO_LARGE)
    except TimeoutError:
        raise RefusedError(TOO_SLOW) from None
    return bytes(body)


async def _read_away(chunks: AsyncGenerator[bytes, None]) -> None:
    """Read what is left of a body: a client that still sends would not hear why it is refused."""
    left = REFUSED_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(REFUSED_S):
            async for chunk in chunks:
                left -= len(chunk)
                if left < 0:
                    return


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    refusal = error.refusal
    # What is wrong with a tool names it.
    why = "the body is no question" if refusal.status == HTTPStatus.BAD_REQUEST else refusal.message
    log.refused(refusal.status, why, error.model)
    return _response(refusal)


async def _no_page(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    refusal = Refusal(HTTPStatus(error.status_code), NO_PAGE.message, error.headers or {})
    log.refused(refusal.status, refusal.message)
    return _response(refusal)


async def _gone(_request: Request, _error: Exception) -> Response:
    log.refused(400, "the client was gone before its body")
    return Response(status_code=400)


async def _failed(_request: Request, _error: Exception) -> Response:
    return _response(
        Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "The server has a fault of its own.")
    )


def _response(refusal: Refusal) -> Response:
    return JSONResponse(
        {"error": {"status": refusal.status, "message": refusal.message}},
        refusal.status,
        {**refusal.headers, "connection": "close"},
    )
