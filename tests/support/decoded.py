"""What an agent protocol returned, in one list."""

from turnwire.core.agent import Decoded
from turnwire.core.events import Event
from turnwire.core.rejection import Rejection


def outputs(decoded: Decoded | str | None) -> list[Event | str | bytes | Rejection]:
    """The text of a delta, or the events, the frames to send, the rejection.

    Empty for a frame that is not ours, and for a mere sign of life.
    """
    if decoded is None:
        return []
    if isinstance(decoded, str):
        return [decoded]
    rejections = [] if decoded.rejection is None else [decoded.rejection]
    return [*decoded.events, *decoded.to_agent, *rejections]
