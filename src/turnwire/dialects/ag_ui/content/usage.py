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

_decode_entries = msgspec.json.Decoder(Annotated[list[Raw], Meta(max_length=_ENTRIES_MAX)]).decode
_decode_entry = msgspec.json.Decoder(_Entry).decode
_decode_count = msgspec.json.Decoder(Annotated[int, Meta(ge=0, le=_LARGEST)]).decode


class Usage:
    """The counts so far, by their name on the wire (`inputTokens`)."""

    def __init__(self) -> None:
        self._of_calls: dict[str, int] = {}
        """What a run told of each call of its model, in events of its own."""
        self._of_runs: dict[str, int] = {}

    def call_used(self, value: Raw) -> None:
        """An event told the usage of one call of a model."""
        _add(self._of_calls, value)

    def run_ended(self, usage: Raw) -> None:
        """A run ended. What it says of itself counts; only without it, what was told before."""
        entries = lenient.field(_decode_entries, usage)
        if not entries:
            for name, count in self._of_calls.items():
                self._of_runs[name] = self._of_runs.get(name, 0) + count
        for entry in entries or ():
            _add(self._of_runs, entry)
        self._of_calls = {}

    @property
    def total(self) -> Raw | None:
        """A JSON object of all counts; None if the agent told none."""
        return Raw(msgspec.json.encode(self._of_runs)) if self._of_runs else None


def _add(counts: dict[str, int], entry: Raw) -> None:
    """Add the counts of an entry. What is no count, such as the model's name, is left out."""
    for name, value in (lenient.field(_decode_entry, entry) or {}).items():
        count = lenient.field(_decode_count, value)
        if count is not None and (name in counts or len(counts) < _COUNTS_MAX):
            counts[name] = min(counts.get(name, 0) + count, _LARGEST)
