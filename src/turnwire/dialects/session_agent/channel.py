"""Channels: a session has several conversations, and a frame may say to which it belongs."""

from typing import Final, TypeAlias

from msgspec import Struct

from turnwire.core.bounds import ChannelName

Channel: TypeAlias = tuple[str, str]
"""Its type and its id."""

DEFAULT_CHANNEL: Final[Channel] = ("web", "default")
"""What a frame means that names none (page 6)."""

THREAD: Final = "thread"

ALLOWED: Final = frozenset({"web", THREAD})
"""Prompts on channels of other types make the agent remind itself every five minutes (page 5.3)."""


class Placed(Struct, frozen=True, rename="camel"):
    """What may say where it belongs. Null and absent are the same."""

    channel_type: ChannelName | None = None
    channel_id: ChannelName | None = None
    thread_id: ChannelName | None = None

    @property
    def named(self) -> Channel | None:
        """The channel that is named. A thread overrides it; a half of it names none (page 5.3)."""
        if self.thread_id:
            return (THREAD, self.thread_id)
        if self.channel_type and self.channel_id:
            return (self.channel_type, self.channel_id)
        return None

    @property
    def channel(self) -> Channel:
        return self.named or DEFAULT_CHANNEL
