"""Ids of calls, made to fit a wire."""

import hashlib
import re
from typing import Final

_DIGEST_CHARS: Final = 16
_REPLACED: Final = re.compile(r"[^a-zA-Z0-9_-]")


def fitting(call_id: str, chars_max: int) -> str:
    """An id of letters, digits, `_` and `-`, of at most `chars_max` characters.

    One that fits is itself. Any other keeps what is readable of it, and gets a digest of all of it:
    two ids stay two, and the same id is changed alike in each request.
    """
    if call_id and len(call_id) <= chars_max and not _REPLACED.search(call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
    readable = _REPLACED.sub("_", call_id)[: chars_max - _DIGEST_CHARS - 1]
    return f"{readable}-{digest}" if readable else digest


class AnswerIds:
    """The ids of the calls of one answer: the provider's, or made ones.

    They are made where it gives none, or one twice, and alike in each process.
    """

    def __init__(self, made_ids: str) -> None:
        self._made_ids = made_ids
        self._used: set[str] = set()
        self._next = 0

    def new(self, given: str) -> str:
        """The id of the next call, which no call before has."""
        call_id = given
        if not given or given in self._used:
            self._next = max(self._next, len(self._used))
            while (call_id := f"{self._made_ids}-{self._next}") in self._used:
                self._next += 1
        self._used.add(call_id)
        return call_id
