"""What the streams of one session in this process share: claims, the prompt lock and watchers.

Use: `SessionGroups.member(session)` is a context manager; it gives a stream its `Member`. All
members of a session share one `SessionGroup`.

* An agent that names no prompts makes two prompts sent at the same moment look the same.
  So a stream *claims* the prompt or the turn that it takes for its own, and no other stream
  takes the same one.
* On a wire where a prompt is recognised only by its echo, a stream sends its prompt only while it
  holds the session's *prompt lock*, until the echo arrives. Users get the lock in turn, and the
  prompts of one user in the order of asking. An agent may drop a prompt without an answer; so
  many dropped prompts of one user must not delay other users.
* A stream *follows* a turn while it sends the turn's events to a client. If a client leaves,
  its turn is not aborted while another stream follows it. A stream without a client does not count.

Several processes do not share groups. If the streams of a session may be in more than one
process, its groups are *apart*: an event that is unknown here may belong to a stream in another
process, so the absence of other streams here proves nothing.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar

from turnwire.core.bounds import keep


def _ignore() -> None:
    """Do nothing: the initial `Member.on_change`."""


class SessionGroup:
    """The shared state. Each stream reaches it through a `Member` of its own."""

    __slots__ = (
        "apart",
        "claims",
        "followers",
        "lock_holder",
        "members",
        "operations",
        "prompt_queue",
        "round",
        "rounds",
    )

    def __init__(self, *, apart: bool = False) -> None:
        self.apart = apart
        """Whether other processes may have streams of this session too."""
        self.members: dict[Member, None] = {}
        """The members, in the order of joining."""
        self.followers: dict[str, dict[Member, None]] = {}
        """The members that follow a prompt or turn, by its id."""
        self.claims: dict[str, Member] = {}
        """The member that claimed a prompt or turn, by its id."""
        self.prompt_queue: dict[Member, int] = {}
        """The members that asked for the prompt lock, in this order, and in which round each gets
        it."""
        self.lock_holder: Member | None = None
        """The member that holds the prompt lock."""
        self.round = 0
        """The round of the lock holder. Each user gets the lock once in a round."""
        self.rounds: dict[str | None, int] = {}
        """The last round in which each user of the queue has a place."""
        self.operations: Counter[str] = Counter()
        """How many operations each user started. The agent reports their connections like any
        other."""


class Member:
    """One stream's access to the group of its session."""

    CLAIMS_MAX: ClassVar = 1024
    """Most claims that a session keeps. When it has more, the oldest turns are over."""

    FOLLOWED_MAX: ClassVar = 64
    """Most ids that one stream follows: its prompt's, and one more each time its turn starts
    over."""

    __slots__ = (
        "_detached_user",
        "_followed",
        "_group",
        "_is_watched",
        "_joins",
        "on_change",
        "prompt_channel",
    )

    def __init__(self, group: SessionGroup | None = None) -> None:
        self.on_change: Callable[[], None] = _ignore
        """Called when we get the prompt lock after waiting, or when another stream follows our
        turn."""
        self.prompt_channel: Hashable | None = None
        """The channel that our prompt was sent to; None before it is sent."""
        self._group = SessionGroup() if group is None else group
        self._followed: dict[str, None] = {}
        self._is_watched = True
        self._detached_user: str | None = None
        self._joins = 0
        self._group.members[self] = None

    @property
    def apart(self) -> bool:
        """Whether other processes may have streams of this session."""
        return self._group.apart

    def claim(self, target_id: str) -> bool:
        """Claim this prompt or turn. False if another stream of this session claimed it before."""
        claims = self._group.claims
        keep(claims, target_id, claims.get(target_id, self), self.CLAIMS_MAX)
        return claims[target_id] is self

    def is_claimed_by_another(self, target_id: str) -> bool:
        """Whether another stream of this session, in this process, claimed this prompt or turn."""
        return self._group.claims.get(target_id, self) is not self

    def acquire(self, user_id: str | None = None) -> bool:
        """Ask for the prompt lock for this user. Returns whether we hold it. May be repeated."""
        group = self._group
        if self not in group.prompt_queue:
            last = group.rounds.get(user_id)
            group.prompt_queue[self] = group.round if last is None else max(group.round, last + 1)
            group.rounds[user_id] = group.prompt_queue[self]
            group.lock_holder = group.lock_holder or self
        return group.lock_holder is self

    def release(self) -> None:
        """Give the prompt lock back, or leave its queue."""
        group = self._group
        group.prompt_queue.pop(self, None)
        if group.lock_holder is not self:
            return
        group.lock_holder = min(
            group.prompt_queue, key=group.prompt_queue.__getitem__, default=None
        )
        if group.lock_holder is None:
            group.rounds.clear()
        else:
            group.round = group.prompt_queue[group.lock_holder]
            group.rounds = {
                user: last for user, last in group.rounds.items() if last >= group.round
            }
            group.lock_holder.on_change()

    def follow(self, target_id: str) -> None:
        """Note that our stream follows this turn, or waits for the turn of this prompt."""
        if target_id in self._followed or not self._is_watched:
            return
        if len(self._followed) >= self.FOLLOWED_MAX:
            self._unfollow(next(iter(self._followed)))
        followers = self._group.followers.setdefault(target_id, {})
        only_follower = next(iter(followers)) if len(followers) == 1 else None
        self._followed[target_id] = followers[self] = None
        if only_follower is not None:  # several followers know already that they are not alone
            only_follower.on_change()

    @property
    def has_other_watchers(self) -> bool:
        """Whether another stream follows the same turn or prompt."""
        return any(len(self._group.followers[target_id]) > 1 for target_id in self._followed)

    def unwatched(self) -> None:
        """Note that our client left for good: our stream follows no turn any more."""
        self._is_watched = False
        for target_id in list(self._followed):
            self._unfollow(target_id)

    def client_detached(self, user_id: str) -> None:
        """Note that our client left and that this user may come back."""
        self._detached_user = user_id
        self._joins = self._group.operations[user_id]

    def joined(self, user_id: str | None) -> bool:
        """Note that this user opened a connection. Returns whether our user came back with it.

        The connections of operations do not count. The agent does not tell which connection is an
        operation's, so joins are counted: the user is back once there are more joins than
        operations.
        """
        if user_id is None or user_id != self._detached_user:
            return False
        self._joins += 1
        return self._joins > self._group.operations[user_id]

    @property
    def other_prompts(self) -> list[Hashable]:
        """The channels to which the other members sent their prompts."""
        others = (member for member in self._group.members if member is not self)
        return [member.prompt_channel for member in others if member.prompt_channel is not None]

    def leave(self) -> None:
        """Leave the group. Our claims stay."""
        self.on_change = _ignore
        self.release()
        for target_id in list(self._followed):
            self._unfollow(target_id)
        self._group.members.pop(self, None)

    def _unfollow(self, target_id: str) -> None:
        del self._followed[target_id]
        followers = self._group.followers[target_id]
        del followers[self]
        if not followers:
            del self._group.followers[target_id]


class _Membership:
    """Context manager of one `Member`. A generator would take a third of a kilobyte more."""

    __slots__ = ("_apart", "_groups", "_member", "_session")

    def __init__(
        self,
        session_groups: dict[Hashable, SessionGroup],
        session: Hashable,
        apart: bool,  # noqa: FBT001 (only passed on)
    ) -> None:
        self._groups = session_groups
        self._session = session
        self._apart = apart

    def __enter__(self) -> Member:
        group = self._groups.get(self._session)
        if group is None:
            group = self._groups[self._session] = SessionGroup(apart=self._apart)
        self._member = Member(group)
        return self._member

    def __exit__(self, *_: object) -> None:
        self._member.leave()
        if not self._groups[self._session].members:
            del self._groups[self._session]


class SessionGroups:
    """The groups of all sessions that have open streams. Owned by the composition root.

    There are at most as many groups as open streams; a group is removed with its last stream.
    `apart` is set if other processes may have streams of the same sessions.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self._groups: dict[Hashable, SessionGroup] = {}
        self._apart = apart

    def __len__(self) -> int:
        return len(self._groups)

    def member(self, session: Hashable) -> AbstractContextManager[Member]:
        """Context manager: a member of this session's group, for the time of one stream."""
        return _Membership(self._groups, session, self._apart)

    @contextmanager
    def operation(self, session: Hashable, user_id: str) -> Iterator[None]:
        """Context manager: count a connection of an operation of this user."""
        group = self._groups.get(session, SessionGroup())
        group.operations[user_id] += 1
        try:
            yield
        except BaseException:  # the connection may not be open
            group.operations[user_id] -= 1
            raise
