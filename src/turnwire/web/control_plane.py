"""The control plane, asked what a token's user is in a session."""

import ssl
from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import quote

import msgspec
import structlog
from msgspec import Meta, Struct

from turnwire.errors import Unauthorized, Unavailable
from turnwire.settings import PLACEHOLDER
from turnwire.web.access import ROLES, Grant, Role, is_orchestrator
from turnwire.web.http_client import HttpClient, NoAnswerError
from turnwire.web.identity import Caller

_log = structlog.get_logger("turnwire.access")

CONNECTIONS_MAX: Final = 100
ANSWER_BYTES_MAX: Final = 16_384


class _Answer(Struct):
    role: str
    user_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="userId")
    orchestrator: bool = False


_answer = msgspec.json.Decoder(_Answer)


class ControlPlane:
    """Access as a backend's own route tells it, asked with the user's token.

    Who the user is, the answer says, whatever the token may say too. An answer of more than
    `ANSWER_BYTES_MAX` is none. Whoever made it closes it.
    """

    def __init__(
        self,
        url: str,
        *,
        within_s: float,
        connections: int = CONNECTIONS_MAX,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._url = url
        self._client = HttpClient(within_s=within_s, connections=connections, tls=tls)

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        """Ask, once.

        Raises:
            Unauthorized: the control plane does not know the token.
            Unavailable: there was no answer in time, or one that makes no sense.

        """
        try:
            answer = await self._client.get(
                self._url.replace(PLACEHOLDER, quote(session_id, safe=":")),
                {"authorization": f"Bearer {caller.token}", "x-request-id": request_id},
                most_bytes=ANSWER_BYTES_MAX,
            )
            match answer.status:
                case HTTPStatus.OK:
                    return _granted(answer.body, session_id)
                case HTTPStatus.UNAUTHORIZED:
                    raise Unauthorized("the control plane does not know the token")
                case HTTPStatus.FORBIDDEN | HTTPStatus.NOT_FOUND:
                    return None
                case status:
                    problem = f"status {status}"
        except (NoAnswerError, _NoSenseError) as exc:
            problem = str(exc)
        _log.warning(
            "the control plane failed",
            problem=problem,
            session_id=session_id,
            request_id=request_id,
        )
        raise Unavailable(f"the control plane: {problem}")

    async def aclose(self) -> None:
        await self._client.aclose()


class _NoSenseError(Exception):
    """An answer of status 200 that is none."""


def _granted(body: bytes | None, session_id: str) -> Grant | None:
    if body is None:
        raise _NoSenseError("an answer too long")
    try:
        answer = _answer.decode(body)
    except (ValueError, RecursionError) as exc:
        raise _NoSenseError("an answer that is not of the form") from exc
    role = ROLES.get(answer.role)
    if role is None:
        raise _NoSenseError("an unknown role")
    if (answer.orchestrator or is_orchestrator(session_id)) and role is not Role.OWNER:
        return None
    return Grant(answer.user_id, role)
