"""The tokens that the runs of a message used, summed over providers, models and runs."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw

from turnwire.core.bounds import Word
from turnwire.core.wire import lenient

_ENTRIES_MAX: Final = 64
_COUNTS_MAX: Final = 16
_LARGEST: Final = 2**53
"""The largest whole number that every client reads exactly."""

_Entry = Annotated[dict[Word, Raw], Meta(max_length=64)]

_OTHER_NAMES: Final = {
    "input_token_count": "inputTokens",
    "output_token_count": "outputTokens",
    "total_token_count": "totalTokens",
}
"""Names of counts in events of their own, and the names that the end of a run has for them."""

_decode_entries = msgspec.json.Decoder(Annotated[list[Raw], Meta(max_length=_ENTRIES_MAX)]).decode
_decode_entry = msgspec.json.Decoder(_Entry).decode
_decode_count = msgspec.json.Decoder(Annotated[int, Meta(ge=0, le=_LARGEST)]).decode


class Usage:
    """The counts so far, by their name on the wire (`inputTokens`)."""

    __slots__ = ("_of_runs", "_so_far")

    def __init__(self) -> None:
        self._so_far: dict[str, int] = {}
        """What a run told before its end, in events of its own."""
        self._of_runs: dict[str, int] = {}

    def used_so_far(self, value: Raw) -> None:
        """An event told what the run used so far. The counts of a run only grow."""
        so_far: dict[str, int] = {}
        _add(so_far, value)
        for name, count in so_far.items():
            self._so_far[name] = max(count, self._so_far.get(name, 0))

    def run_ended(self, usage: Raw) -> None:
        """A run ended. What it says of itself counts; only without it, what was told before."""
        entries = lenient.field(_decode_entries, usage)
        if not entries:
            for name, count in self._so_far.items():
                self._of_runs[name] = self._of_runs.get(name, 0) + count
        for entry in entries or ():
            _add(self._of_runs, entry)
        self._so_far = {}

    @property
    def total(self) -> Raw | None:
        """A JSON object of all counts; None if the agent told none."""
        return Raw(msgspec.json.encode(self._of_runs)) if self._of_runs else None


def _add(counts: dict[str, int], entry: Raw) -> None:
    """Add the counts of an entry. What is no count, such as the model's name, is left out."""
    for name_on_wire, value in (lenient.field(_decode_entry, entry) or {}).items():
        count = lenient.field(_decode_count, value)
        name = _OTHER_NAMES.get(name_on_wire, name_on_wire)
        if count is not None and (name in counts or len(counts) < _COUNTS_MAX):
            counts[name] = min(counts.get(name, 0) + count, _LARGEST)
