"""What an answer that is no stream says: whose it is, and why it was given."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import httpx
import msgspec
from msgspec import Struct

from turnwire.doctor.finding import Code
from turnwire.doctor.judging import Seen

REDIRECTS: Final = range(300, 400)
_BEHIND: Final = {HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}
_BY_STATUS: Final[Mapping[int, Code]] = {
    401: Code.UNAUTHORIZED,
    403: Code.FORBIDDEN,
    404: Code.NOT_FOUND,
    429: Code.TOO_MANY,
    503: Code.UNAVAILABLE,
}


class Refusal(Struct):
    """What turnwire says where it does not stream."""

    error: str
    code: str
    request_id: str = msgspec.field(name="requestId")


def refusal(response: httpx.Response) -> Refusal | None:
    """None where the words are not turnwire's."""
    try:
        return msgspec.json.decode(response.content, type=Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def is_of_proxy(response: httpx.Response) -> bool:
    """Whether a proxy says that nobody is behind it."""
    status = response.status_code
    unavailable = status == HTTPStatus.SERVICE_UNAVAILABLE
    return status in _BEHIND or (unavailable and refusal(response) is None)


def of_prompt(response: httpx.Response) -> Seen:
    """Why a prompt was not taken."""
    code = _BY_STATUS.get(response.status_code, Code.REFUSED)
    return Code.UNREACHABLE_BEHIND if is_of_proxy(response) else code, said(response)


def of_history(response: httpx.Response) -> Seen | None:
    """Why the history was not told; None if it was."""
    status = response.status_code
    if status in REDIRECTS:
        return Code.REDIRECTED, f"{status} to {target(response)}"
    if is_of_proxy(response):
        return Code.UNREACHABLE_BEHIND, _of_messages(response)
    match status:
        case HTTPStatus.OK if _is_list(response):
            return None
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN | HTTPStatus.TOO_MANY_REQUESTS:
            return _BY_STATUS[status], _of_messages(response)
        case _ if refusal(response) is None:
            return Code.HISTORY_ELSEWHERE, _of_messages(response)
        case HTTPStatus.NOT_IMPLEMENTED:
            return Code.NO_HISTORY, _of_messages(response)
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return Code.AGENT_UNREACHABLE, _of_messages(response)
        case _:
            return _BY_STATUS.get(status, Code.REFUSED), _of_messages(response)


def said(response: httpx.Response) -> str:
    told, after = refusal(response), response.headers.get("retry-after")
    words = "not turnwire's answer" if told is None else told.error
    return f"{response.status_code}, {words}" + (f", retry-after: {after}" if after else "")


def target(response: httpx.Response) -> str:
    """Where a redirect leads, without what a query might hold."""
    return str(response.headers.get("location", "nowhere")).partition("?")[0]


def _of_messages(response: httpx.Response) -> str:
    return f"asked for the history: {said(response)}"


def _is_list(response: httpx.Response) -> bool:
    try:
        msgspec.json.decode(response.content, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
