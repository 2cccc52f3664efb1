"""A turn that goes on for a client which has its beginning: what the log has of it is repeated.

`ContinuationProtocol` is for a turn that waited for its client, and needs another run of the agent.
`FollowingProtocol` is for a turn that runs, whose question was answered beside its stream.
"""

from collections.abc import Iterable, Sequence

import msgspec

from turnwire.core.agent import AbortScope, AgentProtocol, Decoded
from turnwire.core.events import (
    Event,
    Question,
    ReasoningDelta,
    ReplayFinished,
    ReplayStarted,
    ReplayUncertain,
    Replied,
    TextDelta,
    TurnStarted,
)
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.steps import Steps
from turnwire.core.turn_log.entries import Absent, Head, Joined, TooLong, read
from turnwire.core.turn_log.protocol import ReaderProtocol

_NO_EVENTS = (Head, Joined, Absent, TooLong)


class _Merged:
    """Events, with deltas in a row as one."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._texts: list[str] = []
        self._kind: type[TextDelta | ReasoningDelta] = TextDelta

    def add(self, event: Event) -> None:
        if not isinstance(event, TextDelta | ReasoningDelta):
            self._join()
            self._events.append(event)
            return
        if type(event) is not self._kind:
            self._join()
            self._kind = type(event)
        self._texts.append(event.text)

    def take(self) -> list[Event]:
        """Return all events."""
        self._join()
        return self._events

    def _join(self) -> None:
        if self._texts:
            self._events.append(self._kind("".join(self._texts)))
            self._texts.clear()


def read_events(frames: Iterable[bytes]) -> Steps[list[Event]]:
    """Return, in steps, the events of frames. Deltas in a row are one event.

    Raises:
        UnreadableError: a frame has another version, or is damaged.

    """
    merged = _Merged()
    for frame in frames:
        for entry in read(frame):
            if not isinstance(entry, _NO_EVENTS):
                merged.add(entry)
        yield
    return merged.take()


def replay(events: Sequence[Event], replies: Sequence[QuestionReply]) -> list[Event]:
    """Return the events of a turn as its client shall get them again, with its answers.

    The client has all up to the last question that it answers. Of the rest it has what its message
    says.
    """
    started = next((event for event in events if isinstance(event, TurnStarted)), None)
    rest = [event for event in events if event is not started]
    answered_ids = {reply.question_id for reply in replies}
    client_has = 1 + max(
        (
            index
            for index, event in enumerate(rest)
            if isinstance(event, Question) and event.question_id in answered_ids
        ),
        default=-1,
    )
    return [
        ReplayStarted("turn" if started is None else started.turn_id),
        *rest[:client_has],
        *(Replied(reply.question_id) for reply in replies),
        ReplayUncertain(),
        *rest[client_has:],
        ReplayFinished(),
    ]


class ContinuationProtocol:
    """The protocol of the agent's next run, whose first events are those of the log."""

    def __init__(
        self, protocol: AgentProtocol, events: Sequence[Event], replies: Sequence[QuestionReply]
    ) -> None:
        self.frame_stats = protocol.frame_stats
        self.connect_request = protocol.connect_request
        self.connection_lost = protocol.connection_lost
        self.reply = protocol.reply
        self.forget = protocol.forget
        self.receive_frame = protocol.receive_frame
        self.prepare_frame = protocol.prepare_frame
        self.tick = protocol.tick
        self.client_detached = protocol.client_detached
        self.unwatched = protocol.unwatched
        self.mark_stale = protocol.mark_stale
        self.abort = protocol.abort
        self.begin_stop = protocol.begin_stop
        self._protocol = protocol
        self._replay: Sequence[Event] = replay(events, replies)

    @property
    def accepted(self) -> bool:
        return self._protocol.accepted

    @property
    def queued(self) -> bool:
        return self._protocol.queued

    @property
    def deadline(self) -> float:
        return self._protocol.deadline

    @property
    def kept_bytes(self) -> int:
        return self._protocol.kept_bytes

    @property
    def has_other_watchers(self) -> bool:
        return self._protocol.has_other_watchers

    @property
    def abort_scope(self) -> AbortScope:
        return self._protocol.abort_scope

    def connection_opened(self, now: float) -> Decoded:
        replayed, self._replay = self._replay, ()
        decoded = self._protocol.connection_opened(now)
        return msgspec.structs.replace(decoded, events=[*replayed, *decoded.events])


class FollowingProtocol(ReaderProtocol):
    """A reader whose client has the beginning of the turn, and answered some of its questions."""

    def __init__(self, request: ResumeRequest, member: Member | None = None) -> None:
        super().__init__(request, member)
        self._replies = request.replies
        self._replayed: _Merged | None = _Merged()
        """The events so far, until the reader caught up; None afterwards."""

    def receive_frame(self, frame: bytes, now: float) -> Decoded | str | None:
        replayed = self._replayed
        decoded = super().receive_frame(frame, now)
        if replayed is None or not self.accepted or decoded is None:
            return decoded
        for event in [TextDelta(decoded)] if isinstance(decoded, str) else decoded.events:
            replayed.add(event)
        if not self.has_caught_up:
            return Decoded()
        self._replayed = None
        return Decoded(replay(replayed.take(), self._replies))
