"""Blots the values of the fields that the operator adds to what an agent is sent.

Such a field may be a token, as the agent's own setting for it. `OperatorFields(fields).blot(frame)`
blots each value of them in a frame to the agent; `tokens` are those that look like a token, which
are to be masked wherever an agent repeats them.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from turnwire.core.recording.secret_mask import SecretMask

_LONG_BYTES: Final = 8
"""Fewest bytes of a text that is blotted wherever it stands. A shorter one is in words, too."""

_TOKEN: Final = re.compile(r"[!-~]{16,}")
_NOT_QUOTES: Final = re.compile(rb'[^"]')


class OperatorFields:
    """The values of some fields, with those inside of arrays and objects."""

    def __init__(self, fields: Mapping[str, Raw]) -> None:
        values = [leaf for raw in fields.values() for leaf in _leaves(msgspec.json.decode(raw))]
        texts = [value for value in values if isinstance(value, str)]
        self.tokens = [text.encode() for text in texts if _TOKEN.fullmatch(text)]
        long = [text.encode() for text in texts if len(text.encode()) >= _LONG_BYTES]
        short = {msgspec.json.encode(value) for value in values} - {b'""'}
        self._mask = SecretMask(long).mask
        whole = b"|".join(map(re.escape, sorted(short, key=len, reverse=True)))
        self._whole = re.compile(rb"(?<![\w.+-])(?:%b)(?![\w.])" % whole) if short else None

    def blot(self, frame: bytes) -> bytes:
        """Return a frame to the agent with each value replaced by as many `x`."""
        if self._whole is None:
            return frame
        return self._mask(self._whole.sub(_blotted, frame))


def _leaves(value: Any) -> Iterator[str | int | float]:
    """The texts and numbers in a value."""
    match value:
        case dict():
            for inner in value.values():
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case None | bool():
            return
        case _:
            yield value


def _blotted(value: re.Match[bytes]) -> bytes:
    return _NOT_QUOTES.sub(b"x", value.group())
