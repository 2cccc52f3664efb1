"""Frames in, the exact SSE out: a recorded turn, without sockets or a clock.

A recording has one frame a line, as the agent sent it. Blank lines and lines
that start with `#` are skipped, so that a recording can be annotated; lines
that start with `#!` are things that happen other than frames:

    #! prompt Hi       what was asked, for an agent that echoes no more than that; first of all
    #! resume          somebody comes back to a turn under way, and asks nothing; first of all
    #! after 121       nothing happens for so many seconds
    #! close           the agent's side closes
    #! drain           the gateway is told to stop

At the end of a recording whose turn is still open, the agent's side closes.
"""

from collections.abc import Iterable

from turnwire.core.dialect import Ask, Dialect, Look
from turnwire.core.limits import Limits
from turnwire.core.turn import Act, Turn

PROMPT_ID = "p1"
"""The prompt id that a recording's own turn carries, unless another is named."""

USER_ID = "u1"
"""Who asked, in a recording."""

_PROMPT = b"#! prompt "
_RESUME = b"#! resume"


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

    """
    lines = [raw.strip() for raw in recording]
    limits = Limits(idle_s=dialect.idle_s)
    if _RESUME in lines:
        conversation = dialect.resume(Look(user_id=USER_ID, init_s=limits.hold_s))
    else:
        conversation = dialect.prompt(Ask(text=_asked(lines), prompt_id=prompt_id, user_id=USER_ID))
    turn = Turn(conversation, limits, event_lines=event_lines, usage=usage)
    now = 0.0
    written = [turn.opened(now).write]
    for line in lines:
        if line.startswith(b"#!"):
            acts, now = _happening(line[2:].decode().split(), turn, now)
            written += [act.write for act in acts]
        elif line and not line.startswith(b"#"):
            written.append(turn.frames([_frame(line)], now).write)
    written.append(turn.agent_left(now).write)
    return b"".join(written)


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
        case ["prompt", _, *_] | ["resume"]:
            return [], now
        case ["close"]:
            return [turn.agent_left(now)], now
        case ["drain"]:
            return [turn.drain(now)], now
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
