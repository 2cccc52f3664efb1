"""Ids of calls that are unique in a turn. Models may use an id twice."""

import hashlib
from typing import Final

ID_MAX: Final = 128
"""Most characters of an id. Some providers make ids of several hundred."""
_DIGITS: Final = 32


class CallIds:
    """Gives the calls of one answer their ids: live, and when the answer is whole."""

    def __init__(self, used: frozenset[str]) -> None:
        self._used = set(used)
        self._by_model: dict[str, str] = {}

    def unique(self, model_id: str) -> str:
        """Return the id in the turn of a call that the model calls so.

        It is that of the model, unless an earlier answer has it, or it is too long. The ids of one
        answer differ, so the same id is the same call.
        """
        if (call_id := self._by_model.get(model_id)) is None:
            call_id = base = _short(model_id)
            number = 2
            while call_id in self._used:
                call_id = f"{base}-{number}"
                number += 1
            self._used.add(call_id)
            self._by_model[model_id] = call_id
        return call_id


def _short(model_id: str) -> str:
    if len(model_id) <= ID_MAX - _DIGITS:
        return model_id or "call"
    return hashlib.sha256(model_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
