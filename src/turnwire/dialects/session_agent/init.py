"""What `init` says about a session, and the preparation of long frames.

`session_state` reads what all revisions send: whether the session is alive, which revision this
is, whether the runner is busy. `session` reads what only R sends: the turn that runs, the
prompts that wait, the history. A and V repeat only the prompt that waits (page 4.1), which
`pending` returns. All of them read leniently: an entry of an unexpected shape is left out.

`prepare_frame` limits how many values the decoder may build from a long frame, and lets `Ahead`
decode the entries of a long `init`, both in short steps.

Pages are sections of docs/wire/session-agent.md.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import FIELDS_MAX, MANY, PARTS_MAX, VALUES_MAX
from turnwire.core.requests import Channel
from turnwire.core.wire import lenient
from turnwire.core.wire.census import census
from turnwire.dialects.session_agent import frames
from turnwire.dialects.session_agent.frames import Init, MessageData, Pending, Snapshot

DEAD: Final = frozenset({"terminated", "archived", "error"})
"""Statuses of a session that is over. The agent queues a prompt to it forever, without a reply
(page 2.3)."""


class SessionState(Struct, frozen=True):
    is_dead: bool
    runner_busy: bool
    prompts_queued: int
    echo_on_dispatch: bool
    """Whether a queued prompt is echoed when it is dispatched (A, V), or when it arrives (R)."""
    pending_id: str | None
    """The id of the prompt that was queued before we connected."""


class Session(Struct, frozen=True, kw_only=True):
    """A session of R, which runs one prompt at a time, on any channel."""

    entries: Sequence[Snapshot]
    turn: Snapshot | None
    """The turn that runs."""
    asker: str | None
    """The user id of the author of the last started prompt, if `init` has it."""
    prompt: Snapshot | None
    """The dispatched prompt, if its turn has no id yet. If `turn` is None too, `init` does not say
    what runs."""
    waiting: Sequence[Snapshot]
    """The prompts that wait, in their order."""


class _SessionStatus(Struct, frozen=True):
    status: Raw = Raw()


class _Flags(Struct, frozen=True, rename="camel"):
    """The flags of `init`, each decoded on its own: an odd field does not spoil the others."""

    runner_busy: Raw = Raw()
    prompts_queued: Raw = Raw()
    pending_prompt: Raw = Raw()


class _Messages(Struct, frozen=True):
    messages: Annotated[list[Raw], MANY] = []


class _PendingPrompt(Struct, frozen=True, rename="camel"):
    pending_prompt: Pending | None = None


_STEP_BYTES: Final = 65_536
"""Bytes of entries that are decoded in one step. A longer entry is one step."""

_ENTRY_BYTES_MIN: Final = 256
"""What a short entry counts as, in bytes."""

_LIMITS: Final = {
    # The frame, its session, the messages of the session, a message, its parts.
    "init": (5, VALUES_MAX),
    # The frame, its data, the parts.
    "message.updated": (3, 4 * PARTS_MAX),
    # The frame, its prompt, the actions.
    "interactive_prompt": (3, FIELDS_MAX),
}
"""Frame types with nested values that are decoded: how deep, and how many values are allowed."""

_init = msgspec.json.Decoder(frames.Init).decode
_session_status = msgspec.json.Decoder(_SessionStatus).decode
_flags = msgspec.json.Decoder(_Flags).decode
_number = msgspec.json.Decoder(int).decode
_pending = msgspec.json.Decoder(Pending).decode
_read_messages = msgspec.json.Decoder(_Messages).decode
_read_entry = msgspec.json.Decoder(Snapshot).decode
_pending_prompt = msgspec.json.Decoder(_PendingPrompt).decode


def _inspect_nothing(_: Snapshot) -> None:
    """The default: no entry needs an inspection."""


class Ahead:
    """The entries of a long `init`, decoded before the frame itself is received.

    `inspect` is called with each entry. What it reads is cached on the entry, so that a later
    reader does not need one long step for it.
    """

    def __init__(self, inspect: Callable[[Snapshot], object] = _inspect_nothing) -> None:
        self._inspect = inspect
        self._entries: list[Snapshot] | None = None

    def read(self, session: Raw) -> Iterator[None]:
        """Decode the entries in short steps: yields after each step."""
        self._entries = None
        entries: list[Snapshot] = []
        step_bytes = 0
        for raw in _messages(session):
            entry = lenient.field(_read_entry, raw)
            step_bytes += max(_ENTRY_BYTES_MIN, len(raw))
            if entry is not None:
                self._inspect(entry)
                entries.append(entry)
            if step_bytes >= _STEP_BYTES:
                yield
                step_bytes = 0
        self._entries = entries

    def drop(self) -> None:
        """Drop the entries of an `init` that is not used."""
        self._entries = None

    def take(self, session: Raw) -> list[Snapshot]:
        """Return the entries of an `init`, and decode them now if `read` has not done so."""
        entries, self._entries = self._entries, None
        if entries is None:
            return list(lenient.each(_read_entry, _messages(session)))
        return entries


def session_state(init: Init) -> SessionState:
    session = lenient.field(_session_status, init.session) or _SessionStatus()
    data = lenient.field(_flags, init.data) or _Flags()
    pending = lenient.field(_pending, data.pending_prompt)
    return SessionState(
        is_dead=safe_json.string(session.status) in DEAD,
        runner_busy=bytes(data.runner_busy) == b"true",
        prompts_queued=lenient.field(_number, data.prompts_queued) or 0,
        echo_on_dispatch=bool(data.pending_prompt),
        pending_id=None if pending is None else pending.message_id,
    )


def session(init: Init, session_state: SessionState, ahead: Ahead) -> Session:
    """The session, as R describes it.

    R echoes a prompt when it arrives, and keeps the waiting prompts in their order. So the last
    prompt that does not wait is the one that runs, and its turn stands after it.
    """
    entries = ahead.take(init.session)
    prompts = [index for index, entry in enumerate(entries) if entry.role == "user"]
    started = max(0, len(prompts) - max(0, session_state.prompts_queued))
    waiting = [entries[index] for index in prompts[started:]]
    last = prompts[started - 1] if started else -1
    turns = [entry for entry in entries[last + 1 :] if is_turn(entry)]
    turn = turns[-1] if turns and session_state.runner_busy and not turns[-1].is_finished else None
    # A finished turn after the prompt may be its own turn, or the turn that it waited for.
    is_starting = session_state.runner_busy and started and not turns
    prompt = entries[last] if is_starting else None
    asker = entries[last].author_id if started else None
    return Session(entries=entries, turn=turn, asker=asker, prompt=prompt, waiting=waiting)


def pending(init: Init, channel: Channel) -> str | None:
    """The id of the prompt that waits on this channel, or None (A, V).

    A prompt that names neither a thread nor a channel belongs to the default channel.
    """
    decoded = lenient.field(_pending_prompt, init.data)
    prompt = None if decoded is None else decoded.pending_prompt
    return prompt.message_id if prompt is not None and prompt.channel == channel else None


def is_turn(entry: Snapshot) -> bool:
    """Whether this is a turn: the parts of a forwarded entry are an object (page 4.2)."""
    return entry.role == "assistant" and bytes(entry.parts).startswith(b"[")


def is_start(data: MessageData) -> bool:
    """Whether this message starts a turn. A forwarded entry has content, or other parts."""
    return data.role == "assistant" and data.content == "" and bytes(data.parts) == b"[]"


def prepare_frame(raw: bytes, ahead: Ahead | None = None) -> Iterator[None]:
    """Count the values that the decoder would build from a frame, in short steps.

    With `ahead`, also decode the entries of an `init`.

    Raises:
        TooManyError: the frame has more values than are allowed.

    """
    possible_types = safe_json.frame_types(raw, tuple(_LIMITS))
    yield
    for frame_type in possible_types:
        depth, values_max = _LIMITS[frame_type]
        # If the frame is not strict JSON, it may be of several types.
        yield from census(raw, depth, values_max if len(possible_types) == 1 else VALUES_MAX)
    if "init" in possible_types and ahead is not None:
        yield from _read_ahead(raw, ahead)


def _messages(session: Raw) -> list[Raw]:
    decoded = lenient.field(_read_messages, session)
    return [] if decoded is None else decoded.messages


def _read_ahead(raw: bytes, ahead: Ahead) -> Iterator[None]:
    try:
        frame = _init(raw)
    except (msgspec.DecodeError, RecursionError):
        frame = None  # another type, or malformed: `frames.decoder` counts it
    yield
    if frame is not None:
        with contextlib.suppress(RecursionError):  # the same as above
            yield from ahead.read(frame.session)
