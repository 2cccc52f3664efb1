"""The items of a turn that its next response begins with, where the agent keeps none."""

from typing import Final

from msgspec import Raw

from turnwire.dialects.openai_responses import calls, items

BYTES_MAX: Final = 1_048_576
"""Most bytes of the items of a turn that are kept."""


class KeptItems:
    """The items that are done, as the agent sent them. All of them are kept, or none."""

    def __init__(self, *, is_whole: bool) -> None:
        self.all: list[bytes] = []
        self.is_whole = is_whole
        """Whether all of the items are kept."""
        self.kept_bytes = 0
        self._of_earlier = 0
        """How many of them are of earlier responses."""

    @property
    def has_new(self) -> bool:
        """Whether one of them is of this response."""
        return len(self.all) > self._of_earlier

    def next_response(self) -> None:
        self._of_earlier = len(self.all)

    def add(self, raw: Raw) -> None:
        if not self.is_whole:
            return
        self.kept_bytes += len(raw)
        self.all.append(bytes(raw))
        if self.kept_bytes > BYTES_MAX:
            self.forget()

    def answer_unrun(self) -> None:
        """Add an output to each call that has none: servers refuse the next request otherwise."""
        called: dict[bytes, str] = {}
        for kept in self.all:
            item = items.read(Raw(kept))
            if item is None:
                continue
            if item.type in items.ANSWERED:
                called[bytes(item.call_id)] = items.ANSWERED[item.type]
            elif items.is_output(item):
                called.pop(bytes(item.call_id), None)
        for call_id, kind in called.items():
            given = (kind.encode(), call_id, calls.NO_RESULT.encode())
            self.add(Raw(b'{"type":"%b","call_id":%b,"output":"%b"}' % given))

    def forget(self) -> None:
        """Keep no item any more: no other response can follow."""
        self.is_whole = False
        self.kept_bytes = self._of_earlier = 0
        self.all.clear()
