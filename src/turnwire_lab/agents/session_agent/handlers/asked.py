"""The frames of a client (§3). No field of them is ever a correlation id.

Fields are optional where the agent itself complains about their absence.
"""

from typing import Final, Literal

import msgspec

from turnwire_lab.agents.session_agent.habits import QueueMode, Revision
from turnwire_lab.agents.session_agent.state.channel import Channel


class Attachment(msgspec.Struct, frozen=True):
    mime: str = ""
    url: str = ""
    filename: str | None = None


class _Frame(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What all frames have in common: how their names are spelled."""


class Prompt(_Frame, frozen=True, kw_only=True, tag="prompt"):
    content: str | None = None
    model: str | None = None
    attachments: list[Attachment] | None = None
    queue_mode: QueueMode | None = None
    channel_type: str | None = None
    channel_id: str | None = None
    thread_id: str | None = None

    def channel(self, revision: Revision) -> Channel:
        """A thread overrides the channel and is not checked (§5.3); R knows no threads."""
        if self.thread_id is None or revision == "R":
            return Channel(self.channel_type, self.channel_id)
        return Channel("thread", self.thread_id, self.thread_id)


class Answer(_Frame, frozen=True, kw_only=True, tag="answer"):
    question_id: str | None = None
    answer: str | bool | None = None


class Abort(_Frame, frozen=True, kw_only=True, tag="abort"):
    channel_type: str | None = None
    channel_id: str | None = None


class Ping(_Frame, frozen=True, tag="ping"):
    pass


class Revert(_Frame, frozen=True, kw_only=True, tag="revert"):
    message_id: str | None = None


class Diff(_Frame, frozen=True, tag="diff"):
    pass


class Review(_Frame, frozen=True, tag="review"):
    pass


class Command(_Frame, frozen=True, kw_only=True, tag="command"):
    command: str = ""


class Approve(_Frame, frozen=True, kw_only=True, tag="approve-action"):
    invocation_id: str = ""
    action_id: Literal["allow_once", "allow_session", "allow_always"] = "allow_once"


class Deny(_Frame, frozen=True, kw_only=True, tag="deny-action"):
    invocation_id: str = ""
    reason: str | None = None


class Withdraw(_Frame, frozen=True, tag="queue.withdraw"):
    pass


class Promote(_Frame, frozen=True, tag="queue.promote"):
    pass


class Replace(_Frame, frozen=True, kw_only=True, tag="queue.replace"):
    content: str | None = None
    model: str | None = None
    attachments: list[Attachment] | None = None
    thread_id: str | None = None


Early = Prompt | Answer | Abort | Ping | Revert | Diff | Review | Command
"""What every revision understands."""
Late = Approve | Deny | Withdraw | Promote | Replace
"""What came after R."""
Asked = Early | Late

_ASKED: Final = msgspec.json.Decoder(Asked)


class NotJson(Exception):  # noqa: N818 - a complaint to the sender
    """The frame is no JSON; the sender gets a complaint."""


def parse(data: str | bytes, revision: Revision) -> Asked | None:
    """What a client asks for; None for what this revision does not understand."""
    try:
        asked: Asked = _ASKED.decode(data)
    except msgspec.ValidationError:
        return None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise NotJson from error
    return None if revision == "R" and isinstance(asked, Late) else asked
