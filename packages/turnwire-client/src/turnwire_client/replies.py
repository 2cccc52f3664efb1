"""The answers of the gateway that are no streams: the history, a receipt, a refusal."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import msgspec
from msgspec import Struct

from turnwire_client.errors import MalformedError, RefusedError
from turnwire_client.events import Abort, End, Error, Finish
from turnwire_client.message import UIMessage

_TEXT_MAX: Final = 500
"""Most characters of a refusal's text. The gateway's own are fixed and short."""
_DIGITS_MAX: Final = 6
"""Most digits of a `retry-after`, which is in seconds."""


class Receipt(Struct, frozen=True, rename="camel"):
    """What a stop did. `reason`: `canceled`, `end_turn`, `error`, `idle` or `no_verdict`."""

    stopped: bool
    turn_id: str | None
    reason: str
    waited_ms: int


class _Refusal(Struct, rename="camel"):
    error: str = ""
    code: str = ""
    request_id: str | None = None


_receipt = msgspec.json.Decoder(Receipt).decode
_refusal = msgspec.json.Decoder(_Refusal).decode
_messages = msgspec.json.Decoder(list[UIMessage]).decode


def read_receipt(body: bytes) -> Receipt:
    """Read the answer to a stop.

    Raises:
        MalformedError: it is none.

    """
    try:
        return _receipt(body)
    except (msgspec.DecodeError, UnicodeError):
        raise MalformedError("the answer is no receipt of a stop") from None


def read_messages(body: bytes) -> list[UIMessage]:
    """Read a history, the oldest message first.

    Raises:
        MalformedError: it is none.

    """
    try:
        messages = _messages(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise MalformedError("the answer is no history") from None
    if all(isinstance(part.get("type"), str) for each in messages for part in each.parts):
        return messages
    raise MalformedError("a message of the history has a part without a type")


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> RefusedError:
    """Return the error for an answer with this status. `headers` have lower-case names."""
    try:
        refusal = _refusal(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        refusal = _Refusal()
    after = headers.get("retry-after", "")
    return RefusedError(
        status,
        refusal.code[:_TEXT_MAX],
        refusal.error[:_TEXT_MAX],
        retry_after=int(after)
        if after.isascii() and after.isdigit() and len(after) <= _DIGITS_MAX
        else None,
        request_id=refusal.request_id,
    )


def has_prompt(history: Sequence[UIMessage], prompt_id: str | None) -> bool:
    """Whether the agent has the prompt with this message id."""
    return any(each.role == "user" and each.id == prompt_id for each in history)


def answer_in(
    history: Sequence[UIMessage], answer_id: str | None, prompt_id: str | None
) -> UIMessage | None:
    """The answer with this id; if it is not known, the one behind the prompt with that id."""
    if answer_id is not None:
        return next((each for each in reversed(history) if each.id == answer_id), None)
    for prompt, answer in pairwise(history):
        if prompt.id == prompt_id and answer.role == "assistant":
            return answer
    return None


def end_of(message: UIMessage) -> End:
    """How the turn of a message ended, of a history with `finish=true`."""
    metadata: Any = message.metadata
    finish = metadata.get("finish") if isinstance(metadata, dict) else None
    match finish:
        case {"reason": "error", "errorText": str(text)}:
            return Error(text)
        case {"reason": "error"}:
            return Error("")
        case {"reason": "canceled"}:
            return Abort()
        case _:
            return Finish()
