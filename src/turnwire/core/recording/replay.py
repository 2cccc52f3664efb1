"""Replay a recorded turn without sockets or a clock: frames in, the exact SSE body out.

`replay(lines, dialect)` returns the body. A recording has one frame a line, as the agent sent it.
Blank lines and lines that start with `#` are skipped, so that people can annotate a recording.
Lines that start with `#!` are the other inputs of the turn:

    #! prompt Hi       the text of the prompt, for an agent that echoes only the text; first line
    #! resume          the client resumes a running turn, without a prompt; first line
    #! after 121       121 seconds pass without a frame
    #! close           the agent closes the connection
    #! drain           the gateway is stopping

A recording that the gateway wrote (`core.recording.recorder`) begins with a line that holds the
request and the limits of the stream. Then it lists the inputs with their exact times:

    #! stream {"dialect":"…","promptId":"p1", …}
    #! at 1.25         the time, in seconds
    #! frame "…"       a frame that does not begin with `{`, as a JSON string
    #! missing …       a part of the stream that is not in the recording
    #! opened, unreachable, refused, unsound, leave, stall, blocked, progressed N, held N,
    #! unblocked, tick
    #! replied {…}     a user answered a question beside the stream
    #! stopped         a user stopped the turn beside the stream
    #! readers N       so many clients read the turn in the turn log

If the turn is still open at the end of the recording, the agent closes the connection.
"""

from collections.abc import Iterable

from msgspec import Struct

from turnwire.core.agent import AgentProtocol, Dialect
from turnwire.core.recording.input_lines import checked_frame, decode
from turnwire.core.recording.recorder import Header, find_header
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn import inputs
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.turn_log.continuation import ContinuationProtocol
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream

PROMPT_ID = "p1"
"""The prompt id that a recording's own turn carries, unless another is named."""

USER_ID = "u1"
"""The caller of a recording without a header."""

_PROMPT = b"#! prompt "
_RESUME = b"#! resume"


class Replayed(Struct, frozen=True):
    """A replayed turn."""

    body: bytes
    """The SSE body that the client would have received."""
    has_turn: bool
    """Whether the turn of the recording began."""
    known_frames: int
    """Frames that the dialect knows, up to the end of the turn."""


def replay(
    recording: Iterable[bytes],
    dialect: Dialect,
    *,
    prompt_id: str = PROMPT_ID,
    event_lines: bool = True,
    usage: bool = False,
) -> bytes:
    """Return the SSE body that the client would have received, as `replay_turn` does."""
    return replay_turn(
        recording, dialect, prompt_id=prompt_id, event_lines=event_lines, usage=usage
    ).body


def replay_turn(
    recording: Iterable[bytes],
    dialect: Dialect,
    *,
    prompt_id: str = PROMPT_ID,
    event_lines: bool = True,
    usage: bool = False,
) -> Replayed:
    """Replay a recording.

    `prompt_id` is the prompt whose turn is followed; a header in the recording takes precedence.
    `event_lines` and `usage` are the settings of the same names.

    Raises:
        input_lines.BadRecordingError: a `#!` line is not one of those above, or a frame is
            not UTF-8. (Transports reject such frames.)
        BadHeaderError: the header line of the recording cannot be decoded.

    """
    lines = [raw.strip() for raw in recording]
    now = 0.0
    if (header := find_header(lines)) is not None:
        protocol = _recorded_protocol(header, dialect)
        turn = _recorded_turn(header, protocol, event_lines=event_lines, usage=usage)
        records = []
    else:
        limits = Limits(idle_s=dialect.idle_s)
        if _RESUME in lines:
            protocol = dialect.resume(ResumeRequest(user_id=USER_ID, init_s=limits.hold_s))
        else:
            request = PromptRequest(text=_prompt_text(lines), prompt_id=prompt_id, user_id=USER_ID)
            protocol = dialect.prompt(request)
        options = StreamOptions(event_lines=event_lines, usage=usage)
        turn = Turn(protocol, limits, UIMessageStream(options))
        records = [turn.handle(inputs.Opened(), now).to_client]
    for line in lines:
        outputs, now = _apply(line, turn, now)
        records += [output.to_client for output in outputs]
    while turn.outcome is None:  # a turn that waits without a connection ends at the second one
        records.append(turn.handle(inputs.AgentLeft(), now).to_client)
    stats = protocol.frame_stats
    unknown_frames = stats.malformed + sum(stats.unrecognised.values())
    return Replayed(
        b"".join(records), turn.turn_id is not None, turn.frames_received - unknown_frames
    )


def _recorded_protocol(header: Header, dialect: Dialect) -> AgentProtocol:
    """Return a protocol with the request of a recorded stream."""
    member = Member(SessionGroup(apart=header.apart))
    if header.mode == "prompt":
        return dialect.prompt(header.prompt_request(), member)
    request = header.resume_request()
    protocol = dialect.resume(request, member)
    if request.waiting is None:
        return protocol
    return ContinuationProtocol(protocol, request.waiting, request.replies)


def _recorded_turn(
    header: Header, protocol: AgentProtocol, *, event_lines: bool, usage: bool
) -> Turn:
    """Return a turn with the options and the limits of a recorded stream."""
    options = StreamOptions(
        event_lines=event_lines and header.event_lines,
        usage=usage or header.usage,
        taken_id=header.taken_id,
    )
    return Turn(protocol, header.limits, UIMessageStream(options))


def _prompt_text(lines: Iterable[bytes]) -> str:
    """The text of the `#! prompt` line; `""` without one."""
    lines = (checked_frame(line) for line in lines if line.startswith(_PROMPT))
    return next((line.decode()[len(_PROMPT) :] for line in lines), "")


def _apply(line: bytes, turn: Turn, now: float) -> tuple[list[Output], float]:
    """Give the input of a line to the turn. Returns the outputs and the new time.

    Raises:
        input_lines.BadRecordingError: the line is not known, or a frame is not UTF-8.

    """
    if not line or (line.startswith(b"#") and not line.startswith(b"#!")):
        return [], now
    match line[2:].split() if line.startswith(b"#!") else []:
        case [b"prompt" | b"stream" | b"missing", _, *_] | [b"resume"]:
            return [], now
        case [b"at", seconds]:
            return [], max(now, float(seconds))
        case [b"after", seconds]:
            until = now + float(seconds)
            outputs = []
            while turn.deadline <= until and turn.outcome is None:
                now = max(now, turn.deadline)
                outputs.append(turn.handle(inputs.Tick(), now))
            return outputs, until
        case _:
            return [turn.handle(decode(line), now)], now
