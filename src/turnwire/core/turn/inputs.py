"""The inputs of a `Turn`: what happens to a stream. `Turn.handle` takes each as a value.

Any input may come at any time and any number of times. In a recording an input is one line, the
tag and then the fields: `Held(1024)` is `#! held 1024` (`core.recording.input_lines`).
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from turnwire.core.requests import QuestionReply


class _Input(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """An input whose array form is a line of a recording."""


class Opened(_Input, frozen=True, tag="opened"):
    """The connection to the agent is open."""


class Unreachable(_Input, frozen=True, tag="unreachable"):
    """The connection to the agent could not be opened."""


class Refused(_Input, frozen=True, tag="refused"):
    """The agent answered the request that opens the connection, and refused it."""


class Frames(_Input, frozen=True, tag="frames"):
    """The agent's text frames of one socket read, or one long frame.

    Callers use `Turn.frames` and `Turn.long_frame`, which need no value; observers get this one.
    """

    frames: Sequence[bytes]


class AgentLeft(_Input, frozen=True, tag="close"):
    """The connection to the agent ended: by the agent, the network or the gateway.

    Without a connection, it ends the stream. The reasons are in `relay.agent.failures`, except
    `UNSOUND`, which is another input.
    """


class Replied(_Input, frozen=True, tag="replied"):
    """A user answered a question of this turn, in a request beside the stream."""

    reply: QuestionReply
    user_id: str


class Stopped(_Input, frozen=True, tag="stopped"):
    """A user stopped this turn, in a request beside the stream."""


class Readers(_Input, frozen=True, tag="readers"):
    """So many clients read this turn in the turn log now, beside the client of this stream."""

    count: int


class Unsound(_Input, frozen=True, tag="unsound"):
    """The agent sends data that no sound agent sends, such as many unreadable frames."""


class ClientLeft(_Input, frozen=True, tag="leave"):
    """The client disconnected."""


class ClientStalled(_Input, frozen=True, tag="stall"):
    """The client stopped reading before our buffers were full, and its connection was reset."""


class Blocked(_Input, frozen=True, tag="blocked"):
    """The client's buffer is full. No frame is read until it has room again."""


class Progressed(_Input, frozen=True, tag="progressed"):
    """A blocked client read some bytes. `held_bytes`: as in `Held`."""

    held_bytes: int = 0


class Held(_Input, frozen=True, tag="held"):
    """More bytes came for a blocked client.

    `held_bytes` is the sum of all bytes that came since the client became blocked. The write that
    blocked the client is not in it.
    """

    held_bytes: int


class Unblocked(_Input, frozen=True, tag="unblocked"):
    """The client's buffer has room again. The time of the pause does not count as silence."""


class Drain(_Input, frozen=True, tag="drain"):
    """The gateway stops. Open turns may go on for the drain time."""


class Tick(_Input, frozen=True, tag="tick"):
    """Time passed."""


Input: TypeAlias = (
    Opened
    | Unreachable
    | Refused
    | Frames
    | AgentLeft
    | Replied
    | Stopped
    | Readers
    | Unsound
    | ClientLeft
    | ClientStalled
    | Blocked
    | Progressed
    | Held
    | Unblocked
    | Drain
    | Tick
)
