"""What went wrong with a call of a model, in no provider's words.

A fault is a value: it is the last event of a stream, and the verdict of a call that never began.
`message` is the provider's sentence: for the log and the operator, never for a client of the
gateway.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from turnwire_agent.llm import retry_after

FaultKind = Literal[
    "bad-request",
    "unauthorized",
    "forbidden",
    "not-found",
    "too-large",
    "context-overflow",
    "rate-limited",
    "quota",
    "overloaded",
    "server",
    "connection",
    "timeout",
    "truncated",
    "malformed",
    "refused",
]

TRANSIENT: Final[frozenset[FaultKind]] = frozenset(
    {"rate-limited", "overloaded", "server", "connection", "timeout", "truncated", "malformed"}
)
"""The same request may go well a moment later. All others need somebody to change something."""

MESSAGE_CHARS: Final = 2000
CODE_CHARS: Final = 64

PRECISE: Final[Mapping[str, FaultKind]] = {
    # OpenAI, and those that speak its wires
    "invalid_api_key": "unauthorized",
    "model_not_found": "not-found",
    "context_length_exceeded": "context-overflow",
    "string_above_max_length": "too-large",
    "rate_limit_exceeded": "rate-limited",
    "rate_limit_error": "rate-limited",
    "insufficient_quota": "quota",
    "exceeded_current_quota_error": "quota",
    "billing_hard_limit_reached": "quota",
    "billing_not_active": "quota",
    "server_is_overloaded": "overloaded",
    "slow_down": "overloaded",
    "content_filter": "refused",
    "content_policy_violation": "refused",
    "invalid_prompt": "refused",
    # llama.cpp
    "exceed_context_size_error": "context-overflow",
    "unavailable_error": "overloaded",
    # Anthropic
    "authentication_error": "unauthorized",
    "billing_error": "quota",
    "permission_error": "forbidden",
    "not_found_error": "not-found",
    "request_too_large": "too-large",
    "overloaded_error": "overloaded",
    "timeout_error": "timeout",
    # Google
    "API_KEY_INVALID": "unauthorized",
    "UNAUTHENTICATED": "unauthorized",
    "PERMISSION_DENIED": "forbidden",
    "NOT_FOUND": "not-found",
    "RESOURCE_EXHAUSTED": "rate-limited",
    "UNAVAILABLE": "overloaded",
    "DEADLINE_EXCEEDED": "timeout",
}
"""Providers' words that say more than the status beside them."""

VAGUE: Final[Mapping[str, FaultKind]] = {
    "invalid_request_error": "bad-request",
    "not_supported_error": "bad-request",
    "INVALID_ARGUMENT": "bad-request",
    "FAILED_PRECONDITION": "bad-request",
    "OUT_OF_RANGE": "bad-request",
    "UNIMPLEMENTED": "bad-request",
    "api_error": "server",
    "server_error": "server",
    "internal_server_error": "server",
    "INTERNAL": "server",
    "UNKNOWN": "server",
    "ABORTED": "server",
}
"""Providers' words that say less than a status: they count where there is none."""

STATUSES: Final[Mapping[int, FaultKind]] = {
    401: "unauthorized",
    402: "quota",
    403: "forbidden",
    404: "not-found",
    408: "timeout",
    409: "server",  # a lock that another request holds
    413: "too-large",
    429: "rate-limited",
    501: "bad-request",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
"""Others are `server` from 500 on, and `bad-request` below."""

OVERFLOWS: Final = (
    r"prompt is too long",  # Anthropic
    r"input length and .max_tokens. exceed context limit",
    r"input is too long for requested model",  # Anthropic's models elsewhere
    r"exceeds the context window",  # Responses
    r"maximum context length",  # Chat Completions, vLLM, Mistral
    r"longer than the maximum model length",  # vLLM
    r"input token count.{0,40}exceeds the maximum",  # Google
    r"maximum prompt length is",  # xAI
    r"reduce the length of the messages",  # Groq
    r"exceeds the available context size",  # llama.cpp, before it answers
    r"context size has been exceeded",  # llama.cpp, in its answer
    r"greater than the context length",  # LM Studio
    r"context window exceeds limit",  # MiniMax
    r"exceeded model token limit",  # Moonshot
)
"""How a provider says, as a pattern in any case, that the transcript is longer than the window."""

TOO_MANY_REQUESTS: Final = 429
_OVERFLOW: Final = re.compile("|".join(OVERFLOWS), re.IGNORECASE)
_NO_MONEY: Final = re.compile(r"credit balance is too low|insufficient balance", re.IGNORECASE)
_UNSHOWN: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


class Fault(Struct, frozen=True, kw_only=True):
    """Why there is no answer."""

    kind: FaultKind
    message: str = ""
    """The provider's own words, of at most `MESSAGE_CHARS`."""
    status: int = 0
    """Of the HTTP response; 0 if there was none, or if it was a 200 whose stream failed."""
    code: str = ""
    """The provider's own word, as `overloaded_error`; of at most 64 characters."""
    retry_after_s: float | None = None
    """What the provider asks us to wait."""

    @property
    def transient(self) -> bool:
        """Whether the same request may go well later."""
        return self.kind in TRANSIENT


def of_error(error: object, status: int = 0) -> Fault:
    """The fault that a provider's error object tells, of any of the four wires.

    Args:
        error: The decoded JSON: the envelope with its `error`, or what is in it.
        status: Of the HTTP response; 0 for an event in a stream.
    """
    values = _unwrapped(error)
    message = _message(values, error)
    details = _objects(values.get("details"))
    words = _words(values, details)
    return Fault(
        kind="quota" if _daily(details) else _kind(words, message, status or _status(values)),
        message=_shown(message, MESSAGE_CHARS),
        status=status,
        code=_shown(words[0], CODE_CHARS) if words else "",
        retry_after_s=retry_after.of_details(details),
    )


def of_response(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Fault:
    """The fault that a response tells whose status is not 200.

    Args:
        status: Of the response.
        headers: Of the response, in any case.
        body: Of the response, or its beginning.
        now: Seconds since 1970: what a date in `Retry-After` is compared with.
    """
    try:
        error: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        error = body.decode("utf-8", "replace")
    fault = of_error(error, status)
    wait_s = retry_after.of_headers({name.lower(): each for name, each in headers.items()}, now)
    if wait_s is None:
        return fault
    return msgspec.structs.replace(fault, retry_after_s=wait_s)


def _unwrapped(error: object) -> Mapping[str, Any]:
    """The object that has the message and the words, however it is wrapped."""
    if isinstance(error, list) and error:  # Google, if it was not asked for events
        error = error[0]
    if not isinstance(error, dict):
        return {}
    inner = error.get("error")
    return inner if isinstance(inner, dict) else error


def _message(values: Mapping[str, Any], error: object) -> str:
    """The provider's sentence; without one, all that it sent."""
    if isinstance(error, str):
        return error
    for key in ("message", "error", "detail"):
        if isinstance(sentence := values.get(key), str) and sentence:
            return sentence
    try:
        return msgspec.json.encode(error).decode() if error else ""
    except (TypeError, ValueError, RecursionError):
        return ""


def _words(values: Mapping[str, Any], details: Sequence[Mapping[str, Any]]) -> list[str]:
    """The provider's words for it, the most precise first."""
    reasons = [detail.get("reason") for detail in details]
    words = (values.get("code"), *reasons, values.get("type"), values.get("status"))
    return [word for word in words if isinstance(word, str) and word and not word.isdecimal()]


def _daily(details: Sequence[Mapping[str, Any]]) -> bool:
    """Whether Google says that what a day may use is used: a wait of a minute is no help."""
    violations = [each for detail in details for each in _objects(detail.get("violations"))]
    return any("PerDay" in str(each.get("quotaId")) for each in violations)


def _objects(values: object) -> list[dict[str, Any]]:
    """The objects of a list; none if it is no list."""
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def _status(values: Mapping[str, Any]) -> int:
    """The status that an error object has as its `code`, a number or its digits; else 0."""
    code = values.get("code")
    if isinstance(code, str) and re.fullmatch("[0-9]{3}", code):
        code = int(code)
    return code if isinstance(code, int) and 400 <= code <= 599 else 0  # noqa: PLR2004


def _kind(words: list[str], message: str, status: int) -> FaultKind:
    precise = next((PRECISE[word] for word in words if word in PRECISE), None)
    if precise in (None, "too-large") and status != TOO_MANY_REQUESTS and _OVERFLOW.search(message):
        return "context-overflow"
    if precise is None and _NO_MONEY.search(message):
        return "quota"
    if precise is not None:
        return precise
    if status:
        return STATUSES.get(status, "server" if status >= 500 else "bad-request")  # noqa: PLR2004
    return next((VAGUE[word] for word in words if word in VAGUE), "server")


def _shown(text: str, characters: int) -> str:
    """Cut, and without characters that a log or a terminal would act on."""
    return _UNSHOWN.sub(" ", text[:characters]).strip()
