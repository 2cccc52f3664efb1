"""A short way for frames that are the same but for one text, as most deltas of an answer are.

The text of such a frame is decoded alone, which takes a fraction of the time of the whole frame.
What the short way returns is what the long one would: a frame that begins and ends as another one,
with a whole string of JSON between, has the same values but for that string.
"""

from collections.abc import Callable
from typing import Final

import msgspec

from turnwire.core.bounds import HandedOn

_TRIES: Final = 8
"""After so many frames in a row that are not like the one before, no more are compared."""

_encode = msgspec.json.Encoder().encode
_decode_text = msgspec.json.Decoder(HandedOn).decode


class FrameShape:
    """What the frames of one stream have around their text."""

    __slots__ = ("_after", "_before", "_is_sure", "_tries")

    def __init__(self) -> None:
        self._before = self._after = b""
        """What stands around the text, with its quotes."""
        self._is_sure = False
        self._tries = _TRIES

    def text(self, frame: bytes) -> str | None:
        """Return the text of a frame of this shape. None: take the long way."""
        before, after = self._before, self._after
        if not self._is_sure or not frame.startswith(before) or not frame.endswith(after):
            return None
        try:
            return _decode_text(frame[len(before) - 1 : len(frame) - len(after) + 1]) or None
        except msgspec.DecodeError:  # more than one string, or half of a pair
            return None

    def learn(self, frame: bytes, text: str, long_way: Callable[[bytes], str | None]) -> None:
        """Take a frame that is a delta and nothing else, and its text. Two of one shape do.

        `long_way` returns the text of such a frame, and None for any other frame.
        """
        if not self._tries:
            return
        try:
            quoted, probe = _encode(text), f"{text}-"
        except UnicodeEncodeError:  # half of a surrogate pair: it is read on the long way alone
            return
        self._is_sure = False
        place = frame.find(quoted)
        before, after = frame[: place + 1], frame[place + len(quoted) - 1 :]
        if place < 0 or before != self._before or after != self._after:
            self._tries -= 1
            self._before, self._after = before, after
        elif long_way(before + _encode(probe)[1:-1] + after) == probe:
            self._is_sure, self._tries = True, _TRIES
        else:  # what was found is another field, with the same text
            self._tries = 0
