"""What one stream must hold: every delta once, in order, whole; a finish; `[DONE]`."""

from collections.abc import Callable
from typing import Final

from turnwire_lab.bench.load import Plan

_DELTA: Final = b'"delta":"'
_HEAD: Final = 20
"""Bytes that a delta says about itself: T, sixteen digits of time, three of its number."""
_NUMBERS: Final = 0xFFF
_END: Final = b'"message.finalize"'


class Checker:
    """One stream. `hear` is told each delta's number and the time of its write, in ns."""

    def __init__(
        self, plan: Plan, hear: Callable[[int, int], None], *, frames: bool = False
    ) -> None:
        self.deltas = 0
        self._plan = plan
        self._hear = hear
        self._frames = frames
        self._tail = b""
        self._tools = 0
        self._finished = self._done = False
        self._fault: str | None = None

    def feed(self, data: bytes) -> None:
        """Some bytes of its body came."""
        data = self._tail + data
        if self._frames:
            data = self._take_frames(data)
        else:
            *lines, data = data.split(b"\n")
            for line in lines:
                self._take_line(line.removesuffix(b"\r"))
        self._tail = data

    def verdict(self) -> str | None:
        """What was wrong with it, now that it is over."""
        if self._fault is not None:
            return self._fault
        if self.deltas != self._plan.deltas:
            return "deltas are missing, or too many"
        if not self._finished:
            return "no finish"
        if not self._done:
            return "no [DONE]"
        return None if self._tools == self._plan.tools else "tools are missing"

    def _take_line(self, line: bytes) -> None:
        if not line.startswith(b"data: "):
            return
        if self._done:
            self._wrong("a record behind [DONE]")
        record = line.removeprefix(b"data: ")
        if record.startswith(b'{"type":"text-delta"'):
            _, mark, text = record.partition(_DELTA)
            self._take_delta(text.removesuffix(b'"}') if mark and text.endswith(b'"}') else b"")
        elif record.startswith(b'{"type":"finish"'):
            if self._finished:
                self._wrong("two ends")
            self._finished = True
        elif record == b"[DONE]":
            self._done = True
        elif record.startswith(b'{"type":"error"'):
            self._wrong("an error")
        elif record.startswith(b'{"type":"tool-output-available"'):
            self._tools += 1

    def _take_frames(self, data: bytes) -> bytes:
        """Frames have no end but the next one's beginning. Returns what is not whole yet."""
        at = 0
        while (found := data.find(_DELTA, at)) >= 0:
            begin = found + len(_DELTA)
            end = begin + self._plan.size
            if len(data) < end + 2:
                return data[found:]
            self._take_delta(data[begin:end] if data[end : end + 2] == b'"}' else b"")
            at = end
        if _END in data[at:]:
            self._finished = self._done = True
        return data[max(at, len(data) - len(_END) - len(_DELTA)) :]

    def _take_delta(self, text: bytes) -> None:
        if len(text) != self._plan.size or text[:1] != b"T":
            self._wrong("a delta is cut or merged")
            return
        if int(text[17:_HEAD], 16) != self.deltas & _NUMBERS:
            self._wrong("out of order")
        if self._finished:
            self._wrong("a delta behind the end")
        self._hear(self.deltas, int(text[1:17], 16))
        self.deltas += 1

    def _wrong(self, fault: str) -> None:
        self._fault = self._fault or fault
