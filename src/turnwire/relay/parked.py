"""What stands still between a gateway and its agent: part of a frame, or of our prompt."""

from collections.abc import Callable, Sequence
from typing import Final, Self

from turnwire.relay.budget import Hold, Holder
from turnwire.relay.upstream import Upstream

WHOLE_S: Final = 120.0
"""How long a frame may take to come, and a prompt to be taken, with whatever progress."""


class Parked:
    """So many bytes that `waiting`, since `now`. Another `mark` later means that it is others."""

    __slots__ = ("_mark", "_moved_at", "_since", "_waiting")

    def __init__(self, waiting: int, now: float, mark: int) -> None:
        self._mark = mark
        self._since = self._moved_at = now
        self._waiting = waiting

    def is_overdue(self, now: float, stall_s: float) -> bool:
        """Whether nothing moved for `stall_s` seconds, or it takes too long altogether."""
        return now >= min(self._moved_at + stall_s, self._since + WHOLE_S)

    def looked(self, waiting: int, now: float, mark: int) -> Self | None:
        """What it is at this look. None: others wait now."""
        if mark != self._mark:
            return None
        if waiting != self._waiting:
            self._waiting, self._moved_at = waiting, now
        return self


def look(parked: Parked | None, waiting: int, now: float, mark: int = 0) -> Parked | None:
    """What waits at this look, of which `parked` is what the last one found; None: nothing."""
    if not waiting:
        return None
    same = None if parked is None else parked.looked(waiting, now, mark)
    return same or Parked(waiting, now, mark)


class AgentSide:
    """What one stream holds on its agent's side: hardly ever anything.

    It has no timer; whoever has one looks.
    `prompt` counts what is to be sent, and is let go of as the agent's socket takes it. `on_end`
    ends the stream where one of the two is the largest part of what it holds.
    """

    __slots__ = ("_begun", "_sent", "_unread", "frame", "is_parked", "prompt")

    def __init__(self, holder: Holder, prompt: Hold | None, on_end: Callable[[], object]) -> None:
        self.frame = holder.hold(on_end)
        """For what came of a frame that is not whole."""
        self.prompt = prompt
        """None once it is sent."""
        if prompt is not None:
            prompt.on_end = on_end
        self._sent: Hold | None = None
        """The same, once it is sent, as long as the agent's socket has not taken all of it."""
        self._begun: Parked | None = None
        self._unread: Parked | None = None
        """What the last look found, of a frame and of our prompt."""
        self.is_parked = False
        """Whether that was anything: it is to be looked again soon."""

    def told(self, frames: Sequence[bytes], upstream: Upstream, now: float) -> bool:
        """These frames were sent. True: the prompt is among them, and the socket has not taken it.

        No other frame is as long as what the prompt was made of.
        """
        prompt = self.prompt
        if prompt is None or max(map(len, frames)) < prompt.held_bytes:
            return False
        self.prompt, self._sent = None, prompt
        self._unread = look(None, self._unwritten(upstream), now)
        self.is_parked = self._unread is not None
        return self.is_parked

    def is_overdue(
        self, upstream: Upstream | None, now: float, stall_s: float, *, reads: int, is_read: bool
    ) -> bool:
        """Whether the agent stopped in the midst of a frame, or of reading its prompt.

        Nothing is expected of one that is not read. A read that brought frames (`reads` counts
        those) brought the end of the one that was begun.
        """
        begun = self.frame.held_bytes if is_read else 0
        self._begun = look(self._begun, begun, now, reads)
        unwritten = 0 if upstream is None else self._unwritten(upstream)
        self._unread = look(self._unread, unwritten, now)
        parked = [one for one in (self._begun, self._unread) if one is not None]
        self.is_parked = bool(parked)
        return any(one.is_overdue(now, stall_s) for one in parked)

    def _unwritten(self, upstream: Upstream) -> int:
        """Count what the agent's socket has not taken of the prompt."""
        if self._sent is None:
            return 0
        unwritten = upstream.unwritten_bytes
        self._sent.set(unwritten)
        if not unwritten:
            self._sent = None
        return unwritten
