"""Responses that are no stream: whether turnwire or a proxy sent them, and their symptoms."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import httpx
import msgspec
from msgspec import Struct

from turnwire.doctor.checks import Symptom
from turnwire.doctor.findings import Code

REDIRECTS: Final = range(300, 400)
_BEHIND: Final = {HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}
_BY_STATUS: Final[Mapping[int, Code]] = {
    401: Code.UNAUTHORIZED,
    403: Code.FORBIDDEN,
    404: Code.NOT_FOUND,
    429: Code.TOO_MANY,
    503: Code.UNAVAILABLE,
}


class ErrorAnswer(Struct):
    """The body of an error response of turnwire."""

    error: str
    code: str
    request_id: str = msgspec.field(name="requestId")


_error_answer = msgspec.json.Decoder(ErrorAnswer).decode


def error_answer(response: httpx.Response) -> ErrorAnswer | None:
    """The decoded error body; None if it is not one of turnwire."""
    try:
        return _error_answer(response.content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def is_of_proxy(response: httpx.Response) -> bool:
    """Whether a proxy reports that it cannot reach a gateway."""
    status = response.status_code
    unavailable = status == HTTPStatus.SERVICE_UNAVAILABLE
    return status in _BEHIND or (unavailable and error_answer(response) is None)


def prompt_symptom(response: httpx.Response) -> Symptom:
    """Why a prompt was not accepted."""
    code = _BY_STATUS.get(response.status_code, Code.REFUSED)
    return Code.UNREACHABLE_BEHIND if is_of_proxy(response) else code, description(response)


def history_symptom(response: httpx.Response) -> Symptom | None:
    """Why the history was not sent; None if the response holds it."""
    status = response.status_code
    if status in REDIRECTS:
        return Code.REDIRECTED, f"{status} to {redirect_location(response)}"
    if is_of_proxy(response):
        return Code.UNREACHABLE_BEHIND, _history_description(response)
    match status:
        case HTTPStatus.OK if _is_list(response):
            return None
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN | HTTPStatus.TOO_MANY_REQUESTS:
            return _BY_STATUS[status], _history_description(response)
        case _ if error_answer(response) is None:
            return Code.HISTORY_ELSEWHERE, _history_description(response)
        case HTTPStatus.NOT_IMPLEMENTED:
            return Code.NO_HISTORY, _history_description(response)
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return Code.AGENT_UNREACHABLE, _history_description(response)
        case _:
            return _BY_STATUS.get(status, Code.REFUSED), _history_description(response)


def description(response: httpx.Response) -> str:
    """Status, error text and `retry-after` of a response, for a finding."""
    answer, retry_after = error_answer(response), response.headers.get("retry-after")
    text = "not turnwire's answer" if answer is None else answer.error
    return f"{response.status_code}, {text}" + (
        f", retry-after: {retry_after}" if retry_after else ""
    )


def redirect_location(response: httpx.Response) -> str:
    """The `location` of a redirect, without the query, which may hold secrets."""
    return str(response.headers.get("location", "nowhere")).partition("?")[0]


def _history_description(response: httpx.Response) -> str:
    return f"asked for the history: {description(response)}"


def _is_list(response: httpx.Response) -> bool:
    try:
        msgspec.json.decode(response.content, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
