"""The ids of calls: too long to be kept, refused by model hosts, or of several calls.

Servers put more into an id than a name: signatures of thoughts of a kilobyte, for example. Whatever
is made of an id here is the same each time, so a call and its outcome find each other.
"""

import hashlib
import re
from typing import Final

from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import ID_MAX

_DIGEST_BYTES: Final = 16
_NOT_IN_AN_ID: Final = re.compile(r"[^A-Za-z0-9_-]")


def of(raw: Raw) -> str:
    """Return the id that a field has, shortened; empty if it has none."""
    return shortened(safe_json.string(raw) or "")


def shortened(call_id: str, most: int = ID_MAX) -> str:
    """Return an id of at most `most` characters: a longer one ends with the hash of all of it."""
    if len(call_id) <= most:
        return call_id
    digest = _digest(call_id)
    return f"{call_id[: most - len(digest) - 1]}-{digest}"


def mended(call_id: str, most: int) -> str:
    """Return an id that model hosts accept: at most `most` letters, digits, `_` and `-`.

    They refuse a whole conversation because of one id that is longer, or has another character.
    """
    plain = _NOT_IN_AN_ID.sub("_", call_id)
    if plain == call_id and len(call_id) <= most:
        return call_id
    digest = _digest(call_id)
    return f"{plain[: most - len(digest) - 1]}-{digest}"


def numbered(call_id: str, count: int) -> str:
    """Return the id of the card of the `count`-th call with this id, for example `c1`, `c1#2`."""
    return call_id if count == 1 else f"{call_id}#{count}"


class Cards:
    """The cards of a message, in their order."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._of_cards: dict[str, str] = {}

    def __contains__(self, card_id: object) -> bool:
        return card_id in self._of_cards

    def add(self, card_id: str) -> str:
        """Return the id of the call that has this card.

        An agent may itself give a call an id with a number. So the cards before it must be there.
        """
        known = self._of_cards.get(card_id)
        if known is not None:
            return known
        call_id, _, _ = card_id.rpartition("#")
        count = self._counts.get(call_id, 0) + 1
        if count == 1 or card_id != numbered(call_id, count):
            call_id, count = card_id, 1
        self._counts[call_id] = count
        self._of_cards[card_id] = call_id
        return call_id


def _digest(call_id: str) -> str:
    data = call_id.encode(errors="surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
