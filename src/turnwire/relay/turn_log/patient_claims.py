"""Claims that wait for the end of the turn before: its client hung up, or a user stopped it.

A client that stops and sends again does both at one moment, and the turn that it left may take
seconds to end: some agents have to answer first. A turn that goes on is not waited for.
"""

import asyncio
from typing import Final

from turnwire.core.rejection import Rejection
from turnwire.core.turn_log.entries import Head, pack
from turnwire.relay.turn_log.port import ChatKey, TurnControl, TurnLog, TurnWriter

UNNOTICED_S: Final = 0.25
"""How long a claim waits for a turn that seems to go on, in seconds.

The hang-up of its client comes on another connection than the prompt, and may come after it."""

ENDING_S: Final = 6.0
"""How long a claim waits for a turn that is being ended: a second more than the slowest wire takes
for it."""

_FIRST_LOOK_S: Final = 0.002
_LOOK_S: Final = 0.05
"""The time before the first look whether the turn is over, and the longest between two looks."""


class _Claim:
    """A claim that is under way, or waits."""

    __slots__ = ("head", "over")

    def __init__(self, head: Head) -> None:
        self.head = head
        self.over = asyncio.Event()


class PatientClaims:
    """The claims of one process. One of each chat is under way, or waits for its turn.

    The others wait a moment for that one: its client may have hung up, which nobody knows yet.
    """

    def __init__(self) -> None:
        self._chats: dict[ChatKey, _Claim] = {}

    def __len__(self) -> int:
        return len(self._chats)

    async def claim(
        self, turn_log: TurnLog, key: ChatKey, head: Head, control: TurnControl, *, renews: bool
    ) -> TurnWriter | None:
        """Claim a chat for a new turn, after the turn that runs if that one ends.

        None: a turn of this chat runs on, or another claim came first. `renews`: the prompt asks
        for another answer to a message. Else a prompt with the message of the turn before is that
        prompt once more, and no second turn begins for it.
        """
        until = asyncio.get_running_loop().time() + UNNOTICED_S
        while (other := self._chats.get(key)) is not None:
            if _is_same(other.head, None if renews else head) or not await _over(other, until):
                return None
        self._chats[key] = mine = _Claim(head)
        try:
            packed = pack(head)
            writer = await turn_log.claim(key, packed, control)
            if writer is None and await _ends(turn_log, key, None if renews else head, until):
                writer = await turn_log.claim(key, packed, control)
            return writer
        finally:
            del self._chats[key]
            mine.over.set()


async def _over(claim: _Claim, until: float) -> bool:
    """Wait for the end of another claim. False: it is not over at the time `until`."""
    try:
        async with asyncio.timeout_at(until):
            await claim.over.wait()
    except TimeoutError:
        return False
    return True


async def _ends(turn_log: TurnLog, key: ChatKey, head: Head | None, until: float) -> bool:
    """Wait for the end of the turn that runs. `head`: of a prompt that no turn is begun for twice.

    False: it goes on at the time `until`, or another turn runs, or one of the same prompt did.
    """
    time = asyncio.get_running_loop().time
    began, pause, is_ending = time(), _FIRST_LOOK_S, False
    prompt_id: str | None = None
    while True:
        last = await turn_log.last(key)
        if last is None:
            return True
        if isinstance(last, Rejection) or _is_same(last.head, head):
            return False
        if not last.is_running:
            return True
        if last.head.prompt_id != (prompt_id := prompt_id or last.head.prompt_id):
            return False
        if time() >= until:
            if is_ending or not await turn_log.is_ending(key):
                return False
            is_ending, until = True, began + ENDING_S
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LOOK_S)


def _is_same(other: Head, head: Head | None) -> bool:
    """Whether another turn is of this prompt. One without an id of its message never is."""
    if head is None or head.client_message_id is None:
        return False
    return other.client_message_id == head.client_message_id
