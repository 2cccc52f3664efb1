"""The ids of calls: those that are too long to be kept, and those that model hosts refuse.

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


def _digest(call_id: str) -> str:
    data = call_id.encode(errors="surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
