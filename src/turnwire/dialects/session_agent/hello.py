"""What `init` tells: whether the session is alive, which revision this is, who is busy."""

from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from turnwire.core import harmless
from turnwire.dialects.session_agent.wire import Init, Pending

DEAD: Final = frozenset({"terminated", "archived", "error"})
"""A prompt to such a session is queued for ever, without a word (page 2.3)."""


class _Session(Struct, frozen=True):
    status: Raw = Raw()


class _Data(Struct, frozen=True, rename="camel"):
    """Each field is read by itself, so that an odd one does not take the others along."""

    runner_busy: Raw = Raw()
    prompts_queued: Raw = Raw()
    pending_prompt: Raw = Raw()


class Hello(Struct, frozen=True):
    is_dead: bool
    runner_busy: bool
    prompts_queued: int
    defers: bool
    """A, V: a queued prompt's user message is told when it is dispatched, not when it comes."""
    pending_id: str | None
    """The prompt that was queued before we came."""


_Read = TypeVar("_Read")

_session = msgspec.json.Decoder(_Session).decode
_data = msgspec.json.Decoder(_Data).decode
_number = msgspec.json.Decoder(int).decode
_pending = msgspec.json.Decoder(Pending).decode


def hello(init: Init) -> Hello:
    session = _lenient(_session, init.session) or _Session()
    data = _lenient(_data, init.data) or _Data()
    pending = _lenient(_pending, data.pending_prompt)
    return Hello(
        is_dead=harmless.string(session.status) in DEAD,
        runner_busy=bytes(data.runner_busy) == b"true",
        prompts_queued=_lenient(_number, data.prompts_queued) or 0,
        defers=bool(data.pending_prompt),
        pending_id=None if pending is None else pending.message_id,
    )


def _lenient(decode: Callable[[Raw], _Read], raw: Raw) -> _Read | None:
    try:
        return decode(raw) if raw else None
    except msgspec.DecodeError:
        return None
