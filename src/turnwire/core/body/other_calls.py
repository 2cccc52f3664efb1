"""The calls of a client's last message that do not wait: which of them may get an outcome later.

A card with the error “No result” may get one, unless a further card is of a call with the same id.
"""

from collections.abc import Collection
from typing import Final

import msgspec

from turnwire.core.body.conversation import Call, Unresolved
from turnwire.core.body.ui_message import NO_RESULT, Outcome
from turnwire.core.bounds import keep
from turnwire.core.wire import call_ids

UNRESOLVED_MAX: Final = 256
"""Most calls whose outcome may come later; of more, the last ones."""


class OtherCalls:
    def __init__(self, waiting: Collection[str]) -> None:
        self.unresolved: dict[str, Unresolved] = {}
        """By the id that the agent is sent."""
        self.settled: list[Call] = []
        self._settled_ids: set[str] = set()
        self._cards = call_ids.Cards()
        self._waiting = frozenset(waiting)

    def add(self, call: Call, card_id: str, outcome: Outcome, *, is_error: bool) -> None:
        """Note a call as it is sent, whose card has this id. `is_error`: the card shows an error.

        A client may have copied a card.
        """
        is_copy = card_id in self._cards
        call_id = self._cards.add(card_id)
        if call_id in self._waiting or (is_copy and call_id in self._settled_ids):
            return
        known = msgspec.structs.replace(call, call_id=call_id)
        if not is_copy and call_id != card_id:
            self._settle_earlier(call_id)
        if outcome.error != NO_RESULT:
            self._settle(known)
        elif is_error:
            unresolved = Unresolved(known, call.call_id)
            keep(self.unresolved, call.call_id, unresolved, UNRESOLVED_MAX)

    def was_written(self, sent_id: str, place: int) -> None:
        """Note where the agent is sent the result of a call."""
        unresolved = self.unresolved.get(sent_id)
        if unresolved is not None:
            self.unresolved[sent_id] = msgspec.structs.replace(unresolved, place=place)

    def _settle_earlier(self, call_id: str) -> None:
        """Another call has this id now."""
        for sent_id, each in list(self.unresolved.items()):
            if each.call.call_id == call_id:
                del self.unresolved[sent_id]
                self._settle(each.call)

    def _settle(self, call: Call) -> None:
        self.settled.append(call)
        self._settled_ids.add(call.call_id)
