r"""Mask secrets in the frames of an agent, in every encoding in which an agent may repeat them.

`SecretMask(secrets).mask(data)` returns the data with each secret replaced by `x`.

An agent that echoes a token may write it in another form: JSON writers escape `/`, quotation marks
and more (`\/`, `\"`, `\u002f`), twice where JSON stands inside JSON; URLs have `%2F`; headers of
other authentication schemes have base64. So the search also runs on a copy of the data without
escapes, and also looks for the secrets without escapes. Each masked byte becomes one `x`, so that
JSON stays JSON.
"""

import base64
import re
from array import array
from collections.abc import Collection, Iterator
from typing import Final

_ESCAPE: Final = re.compile(rb"\\++(?:u00([0-9a-fA-F]{2}))?+|%(?:25)*([0-9a-fA-F]{2})")
_LAYERS_MAX: Final = 4
"""Most layers of escapes that are removed: JSON in a URL in JSON has three; one is spare."""

_ENCODED_BYTES_MIN: Final = 8
"""Fewest bytes of a secret that is searched for in other encodings. Shorter byte strings occur in
ordinary text by chance."""


class SecretMask:
    """Masks the given secrets. Empty secrets are ignored."""

    def __init__(self, secrets: Collection[bytes]) -> None:
        plain = [secret for secret in secrets if secret]
        encoded = {code for secret in plain for code in _base64_parts(secret)}
        self._plain = sorted({*plain, *encoded}, key=len, reverse=True)
        unescaped = {_unescaped(secret) for secret in plain} | encoded
        self._unescaped = sorted(
            (secret for secret in unescaped if len(secret) >= _ENCODED_BYTES_MIN),
            key=len,
            reverse=True,
        )

    def mask(self, data: bytes) -> bytes:
        """Return `data` with each secret replaced by as many `x`. The length stays the same."""
        for secret in self._plain:
            data = data.replace(secret, b"x" * len(secret))
        if self._unescaped and (b"\\" in data or b"%" in data):
            return self._mask_escaped(data)
        return data

    def _mask_escaped(self, data: bytes) -> bytes:
        """Mask the secrets that are written with escapes."""
        unescaped = _Unescaped(data)
        masked = bytearray(data)
        for secret in self._unescaped:
            index = unescaped.text.find(secret)
            while index >= 0:
                start, end = unescaped.starts[index], unescaped.ends[index + len(secret) - 1]
                masked[start:end] = b"x" * (end - start)
                index = unescaped.text.find(secret, index + 1)
        return bytes(masked)


class _Unescaped:
    """A text without its escapes: backslashes are removed, escaped codes become their bytes.

    `starts` and `ends` hold for each byte of `text` its position in the original text. The
    position includes the escape of the byte.
    """

    def __init__(self, data: bytes) -> None:
        self.text = data
        self.starts = array("Q", range(len(data)))
        self.ends = array("Q", range(1, len(data) + 1))
        for _ in range(_LAYERS_MAX):
            if not self._unescape():
                break

    def _unescape(self) -> bool:
        """Remove one layer of escapes. Returns False if there is none."""
        text, starts, ends = bytearray(), array("Q"), array("Q")
        position = 0
        escape_start: int | None = None
        """Where the escape of the next byte begins in the original text. None: not escaped."""
        for match in _ESCAPE.finditer(self.text):
            start, end = match.span()
            if position < start:
                text += self.text[position:start]
                starts += self.starts[position:start]
                ends += self.ends[position:start]
                if escape_start is not None:
                    starts[-(start - position)] = escape_start
                escape_start = None
            escape_start = self.starts[start] if escape_start is None else escape_start
            position = end
            if (code := match[1] or match[2]) is not None:
                text.append(int(code, 16))
                starts.append(escape_start)
                ends.append(self.ends[end - 1])
                escape_start = None
        is_changed = position > 0
        if is_changed and position < len(self.text):
            text += self.text[position:]
            starts += self.starts[position:]
            ends += self.ends[position:]
            if escape_start is not None:
                starts[-(len(self.text) - position)] = escape_start
        if is_changed:
            self.text, self.starts, self.ends = bytes(text), starts, ends
        return is_changed


def _unescaped(secret: bytes) -> bytes:
    return _Unescaped(secret).text


def _base64_parts(secret: bytes) -> Iterator[bytes]:
    """Yield the part that the secret has in the base64 of any text that contains it.

    There is one part for each of the three alignments, in the standard and in the URL-safe
    alphabet.
    """
    for offset in range(3):
        code = base64.b64encode(bytes(offset) + secret)
        # The first characters also hold bits of the bytes before, the last ones of those after.
        start = -(-offset * 8 // 6)
        end = (offset + len(secret)) * 8 // 6
        for part in (code[start:end], code[start:end].translate(_URL_SAFE)):
            if len(part) >= _ENCODED_BYTES_MIN:
                yield part


_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
