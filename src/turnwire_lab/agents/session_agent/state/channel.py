"""Where in a session a prompt was asked: a channel, or on A and V a thread, which overrides it."""

import msgspec

from turnwire_lab.agents.common.frames import Json


class Channel(msgspec.Struct, frozen=True):
    type: str | None = None
    id: str | None = None
    thread: str | None = None

    @property
    def known(self) -> bool:
        """Whether a prompt named it; A and V drop questions and errors of those that did not."""
        return self.type is not None and self.id is not None

    @property
    def key(self) -> str:
        """What V allows one turn at a time for (§5.3)."""
        return f"{self.type}:{self.id}" if self.known else "web:default"

    def fields(self) -> Json:
        """The two fields of most frames; what is not known is left out."""
        named = {"channelType": self.type, "channelId": self.id}
        return {name: value for name, value in named.items() if value is not None}

    def with_thread(self) -> Json:
        """And the third, which only some frames have."""
        return self.fields() | ({} if self.thread is None else {"threadId": self.thread})


DEFAULT = Channel("web", "default")
NOWHERE = Channel()
