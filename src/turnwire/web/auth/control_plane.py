"""Authorization by a control plane: an HTTP service of the operator that knows the roles."""

from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import quote

import msgspec
import structlog
from msgspec import Meta, Struct

from turnwire.config.settings import PLACEHOLDER
from turnwire.errors import Unauthorized, Unavailable
from turnwire.web.auth.access import ROLES, Grant, Role, is_orchestrator
from turnwire.web.auth.http_client import HttpClient, NoAnswerError
from turnwire.web.auth.identity import Caller

_log = structlog.get_logger("turnwire.access")

CONNECTIONS_MAX: Final = 100
ANSWER_BYTES_MAX: Final = 16_384


class _Answer(Struct):
    role: str
    user_id: Annotated[str, Meta(min_length=1)] = msgspec.field(name="userId")
    orchestrator: bool = False


_answer_decoder = msgspec.json.Decoder(_Answer)


class ControlPlane:
    """An `Access` that asks a route of the control plane, with the user's token.

    The user id is the one in the answer, also if the token holds another. An answer of more than
    `ANSWER_BYTES_MAX` bytes counts as a failure. The owner of this object calls `aclose`.
    """

    def __init__(self, url: str, *, timeout_s: float, connections: int = CONNECTIONS_MAX) -> None:
        self._url = url
        self._client = HttpClient(timeout_s=timeout_s, connections=connections)

    async def grant(self, caller: Caller, session_id: str, request_id: str) -> Grant | None:
        """Ask the control plane once, without a retry. None if it answers 403 or 404.

        Raises:
            Unauthorized: the control plane answers 401.
            Unavailable: there is no answer in time, or an invalid one.

        """
        try:
            answer = await self._client.get(
                self._url.replace(PLACEHOLDER, quote(session_id, safe=":")),
                {"authorization": f"Bearer {caller.token}", "x-request-id": request_id},
                max_bytes=ANSWER_BYTES_MAX,
            )
            match answer.status:
                case HTTPStatus.OK:
                    return _grant_of(answer.body, session_id)
                case HTTPStatus.UNAUTHORIZED:
                    raise Unauthorized("the control plane does not know the token")
                case HTTPStatus.FORBIDDEN | HTTPStatus.NOT_FOUND:
                    return None
                case status:
                    problem = f"status {status}"
        except (NoAnswerError, _BadAnswerError) as exc:
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


class _BadAnswerError(Exception):
    """An answer with status 200 and an invalid body."""


def _grant_of(body: bytes | None, session_id: str) -> Grant | None:
    if body is None:
        raise _BadAnswerError("an answer too long")
    try:
        answer = _answer_decoder.decode(body)
    except (ValueError, RecursionError) as exc:
        raise _BadAnswerError("an answer that is not of the form") from exc
    role = ROLES.get(answer.role)
    if role is None:
        raise _BadAnswerError("an unknown role")
    if (answer.orchestrator or is_orchestrator(session_id)) and role is not Role.OWNER:
        return None
    return Grant(answer.user_id, role)
