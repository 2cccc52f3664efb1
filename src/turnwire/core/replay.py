"""Frames in, the exact SSE out: a recorded turn, without sockets or a clock.

A recording has one frame a line, as the agent sent it. Blank lines and lines
that start with `#` are skipped, so that a recording can be annotated; lines
that start with `#!` are things that happen other than frames:

    #! prompt Hi       what was asked, for an agent that echoes no more than that; first of all
    #! resume          somebody comes back to a turn under way, and asks nothing; first of all
    #! after 121       nothing happens for so many seconds
    #! close           the agent's side closes
    #! drain           the gateway is told to stop

What the gateway itself recorded (`core.recording`) says in a first line what was asked and which
numbers the stream lived by, and then exactly what happened when:

    #! stream {"dialect":"v2","promptId":"p1", …}
    #! at 1.25         the time, in seconds
    #! frame "…"       a frame that would be taken for something else, as a JSON string
    #! missing …       what is not in the recording
    #! opened, unreachable, unsound, leave, stall, blocked, progressed N, held N, unblocked, tick

At the end of a recording whose turn is still open, the agent's side closes.
"""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from turnwire.core.act import Act
from turnwire.core.dialect import Ask, Dialect, Look
from turnwire.core.limits import Limits
from turnwire.core.recording import Header, find_header
from turnwire.core.room import Room, Seat
from turnwire.core.turn import Turn

PROMPT_ID = "p1"
"""The prompt id that a recording's own turn carries, unless another is named."""

USER_ID = "u1"
"""Who asked, in a recording."""

_TOLD: Final[dict[str, Callable[[Turn, float], Act]]] = {
    "opened": lambda turn, now: turn.opened(now),
    "unreachable": lambda turn, now: turn.unreachable(now),
    "close": lambda turn, now: turn.agent_left(now),
    "unsound": lambda turn, now: turn.unsound(now),
    "leave": lambda turn, now: turn.client_left(now),
    "stall": lambda turn, now: turn.client_left(now, stalled=True),
    "blocked": lambda turn, now: turn.blocked(now),
    "unblocked": lambda turn, now: turn.unblocked(now),
    "drain": lambda turn, now: turn.drain(now),
    "tick": lambda turn, now: turn.tick(now),
}
"""What a turn may be told by one word."""

_PROMPT = b"#! prompt "
_RESUME = b"#! resume"
_ODD_FRAME = b"#! frame "


class BadRecordingError(ValueError):
    """A `#!` line says something that this build does not know, or a frame is not UTF-8."""


def replay(
    recording: Iterable[bytes],
    dialect: Dialect,
    *,
    prompt_id: str = PROMPT_ID,
    event_lines: bool = True,
    usage: bool = False,
) -> bytes:
    """The SSE body that a client would have got.

    Raises:
        BadRecordingError: a `#!` line is not one of those above, or a frame is
            not UTF-8. (No such frame gets past the WebSocket.)
        BadHeaderError: its first line cannot be read.

    What a recording of the gateway says of itself goes before `prompt_id`.
    """
    lines = [raw.strip() for raw in recording]
    now = 0.0
    if (header := find_header(lines)) is not None:
        turn = _recorded(header, dialect, event_lines=event_lines, usage=usage)
        written = []
    else:
        limits = Limits(idle_s=dialect.idle_s)
        if _RESUME in lines:
            conversation = dialect.resume(Look(user_id=USER_ID, init_s=limits.hold_s))
        else:
            ask = Ask(text=_asked(lines), prompt_id=prompt_id, user_id=USER_ID)
            conversation = dialect.prompt(ask)
        turn = Turn(conversation, limits, event_lines=event_lines, usage=usage)
        written = [turn.opened(now).write]
    for line in lines:
        if line.startswith(_ODD_FRAME):
            written.append(turn.frames([_odd_frame(line)], now).write)
        elif line.startswith(b"#!"):
            acts, now = _happening(line[2:].decode().split(), turn, now)
            written += [act.write for act in acts]
        elif line and not line.startswith(b"#"):
            written.append(turn.frames([_frame(line)], now).write)
    written.append(turn.agent_left(now).write)
    return b"".join(written)


def _recorded(header: Header, dialect: Dialect, *, event_lines: bool, usage: bool) -> Turn:
    """The turn of a stream that the gateway recorded."""
    is_prompt = header.mode == "prompt"
    seat = Seat(Room(apart=header.apart))
    return Turn(
        dialect.prompt(header.ask(), seat) if is_prompt else dialect.resume(header.look(), seat),
        header.limits,
        event_lines=event_lines and header.event_lines,
        usage=usage or header.usage,
        taken_id=header.taken_id,
    )


def _odd_frame(line: bytes) -> bytes:
    try:
        return msgspec.json.decode(line[len(_ODD_FRAME) :], type=str).encode()
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        message = f"a frame is no JSON string: {exc}"
        raise BadRecordingError(message) from exc


def _asked(lines: Iterable[bytes]) -> str:
    return next(
        (_frame(line).decode()[len(_PROMPT) :] for line in lines if line.startswith(_PROMPT)), ""
    )


def _frame(line: bytes) -> bytes:
    try:
        line.decode()
    except UnicodeDecodeError as exc:
        message = f"a frame is not UTF-8: {exc.reason}"
        raise BadRecordingError(message) from exc
    return line


def _happening(words: list[str], turn: Turn, now: float) -> tuple[list[Act], float]:
    match words:
        case ["prompt" | "stream" | "missing", _, *_] | ["resume"]:
            return [], now
        case ["at", seconds]:
            return [], max(now, float(seconds))
        case [word] if word in _TOLD:
            return [_TOLD[word](turn, now)], now
        case ["progressed", held_bytes]:
            return [turn.progressed(now, int(held_bytes))], now
        case ["held", held_bytes]:
            return [turn.held(int(held_bytes), now)], now
        case ["after", seconds]:
            until = now + float(seconds)
            acts = []
            while turn.deadline <= until and turn.outcome is None:
                now = max(now, turn.deadline)
                acts.append(turn.tick(now))
            return acts, until
        case _:
            message = f"unknown line: #! {' '.join(words)}"
            raise BadRecordingError(message)
