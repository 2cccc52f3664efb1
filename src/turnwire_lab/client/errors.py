"""How it can go wrong.

ClientError
├── Refused       the gateway answered with a status, and no stream
├── Unreachable   nobody answered
├── Malformed     what came is no UI message stream
├── Truncated     the stream ended before its `finish`
├── TurnError     the stream says that the turn failed
└── NothingAsked  there is no prompt that could be sent once more
"""
# ruff: noqa: N818 (each is named after what happened)

import msgspec
from httpx import Response


class ClientError(Exception):
    """Base of them all; its text is for a person."""


class Refused(ClientError):
    """The gateway refused. `code` and `text` are empty if the answer has none; times in seconds."""

    def __init__(
        self, status: int, code: str = "", text: str = "", retry_after: int | None = None
    ) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status
        self.code = code
        self.text = text
        self.retry_after = retry_after


class Unreachable(ClientError):
    """There is no connection to a gateway at all."""


class Malformed(ClientError):
    """It is no UI message stream, or breaks the rules of one."""


class Truncated(ClientError):
    """The body ended, or broke off, before `finish`: the message so far may not be whole."""


class TurnError(ClientError):
    """The stream had an `error`, from the agent or the gateway; this is its text."""


class NothingAsked(ClientError):
    """There is no prompt that could be sent once more."""


class _Refusal(msgspec.Struct):
    error: str = ""
    code: str = ""


_refusal = msgspec.json.Decoder(_Refusal).decode


def refused(response: Response) -> Refused:
    """The error for a response without success. Its body was read."""
    try:
        refusal = _refusal(response.content)
    except msgspec.DecodeError:
        refusal = _Refusal()
    after = response.headers.get("retry-after", "")
    return Refused(
        response.status_code,
        refusal.code,
        refusal.error or response.reason_phrase,
        int(after) if after.isascii() and after.isdigit() else None,
    )
