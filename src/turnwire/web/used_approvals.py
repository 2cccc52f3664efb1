"""Which approvals began a run of an agent that keeps nothing: each does so once in this process.

An approval's id carries its own proof, and the agent's question ends with the first answer. But an
agent that keeps nothing cannot know that it was answered, and without a turn log nobody else does.
So the process remembers what it was given, for as long as an id may be valid.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Final, Self

import msgspec

from turnwire.core.requests import QuestionReply
from turnwire.errors import QuestionClosed
from turnwire.relay.agent.failures import DialFailure

MOST: Final = 65_536
"""Most approvals that are remembered. The oldest is forgotten first."""

_DIGEST_BYTES: Final = 16

_NOT_BEGUN: Final = frozenset(
    {DialFailure.DNS, DialFailure.CONNECT, DialFailure.TLS, DialFailure.STATUS}
)
"""Failures after which the agent has surely not begun. After any other one it may have."""


class UsedApprovals:
    """`valid_s`: for how many seconds an id is valid at most."""

    def __init__(self, valid_s: float, most: int = MOST) -> None:
        self._valid_s = valid_s
        self._most = most
        self._used: dict[bytes, float] = {}
        """Digests, and until when they are remembered, the oldest first."""

    def use(self, session: tuple[str, str], replies: Sequence[QuestionReply]) -> "Use":
        """Use the approvals of these answers.

        Raises:
            QuestionClosed: one of them is used already. Then none is used now.

        """
        now = asyncio.get_running_loop().time()
        self._forget_old(now)
        digests = {_digest(session, reply) for reply in replies if reply.subject is not None}
        if not digests.isdisjoint(self._used):
            raise QuestionClosed("the approval was given before")
        for digest in digests:
            self._used[digest] = now + self._valid_s
        return Use(self._used, digests)

    def __len__(self) -> int:
        return len(self._used)

    def _forget_old(self, now: float) -> None:
        while self._used:
            digest, until = next(iter(self._used.items()))
            if until > now and len(self._used) < self._most:
                return
            del self._used[digest]


class Use:
    """The approvals of one request, as a context manager: without a stream they are unused again.

    They are, too, if the agent surely has not begun.
    """

    __slots__ = ("_all", "_digests", "_is_given")

    def __init__(self, used: dict[bytes, float], digests: set[bytes]) -> None:
        self._all = used
        self._digests = digests
        self._is_given = False

    def ended(self, dial_failure: DialFailure | None) -> None:
        """The stream with these answers is over. `dial_failure`: why it got no connection."""
        self._is_given = dial_failure not in _NOT_BEGUN

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._is_given:
            for digest in self._digests:
                self._all.pop(digest, None)


def _digest(session: tuple[str, str], reply: QuestionReply) -> bytes:
    question_id = reply.question_id.encode(errors="surrogatepass")
    named = msgspec.msgpack.encode([*session, question_id, reply.subject])
    return hashlib.sha256(named).digest()[:_DIGEST_BYTES]
