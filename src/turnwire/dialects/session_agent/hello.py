"""What `init` tells: whether the session is alive, which revision this is, who is busy."""

from typing import Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire.dialects.session_agent.wire import Init, Pending

DEAD: Final = frozenset({"terminated", "archived", "error"})
"""A prompt to such a session is queued for ever, without a word (page 2.3)."""


class _Session(Struct, frozen=True):
    status: str = ""


class _Data(Struct, frozen=True, rename="camel"):
    runner_busy: bool = False
    prompts_queued: int = 0
    pending_prompt: Pending | UnsetType | None = UNSET


class Hello(Struct, frozen=True):
    is_dead: bool
    runner_busy: bool
    prompts_queued: int
    defers: bool
    """A, V: a queued prompt's user message is told when it is dispatched, not when it comes."""
    pending_id: str | None
    """The prompt that was queued before we came."""


_session = msgspec.json.Decoder(_Session).decode
_data = msgspec.json.Decoder(_Data).decode


def hello(init: Init) -> Hello:
    session = _lenient(init.session)
    try:
        data = _data(init.data or b"{}")
    except msgspec.DecodeError:
        data = _Data()
    pending = data.pending_prompt
    return Hello(
        is_dead=session.status in DEAD,
        runner_busy=data.runner_busy,
        prompts_queued=data.prompts_queued,
        defers=pending is not UNSET,
        pending_id=pending.message_id if isinstance(pending, Pending) else None,
    )


def _lenient(raw: Raw) -> _Session:
    try:
        return _session(raw or b"{}")
    except msgspec.DecodeError:
        return _Session()
