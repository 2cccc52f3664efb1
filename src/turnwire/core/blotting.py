r"""Secrets blotted out of what an agent said, in whatever spelling it said them.

An agent that echoes a token need not write it as it came: JSON writers escape `/`, quotation marks
and more (`\/`, `\"`, `\u002f`), also twice where JSON stands in JSON; URLs have `%2F`; headers of
other schemes have base64. So a text is looked through without its escapes too, and so is a secret.
What is blotted out becomes as many `x`, so that JSON stays JSON.
"""

import base64
import re
from array import array
from collections.abc import Collection, Iterator
from typing import Final

_ESCAPE: Final = re.compile(rb"\\++(?:u00([0-9a-fA-F]{2}))?+|%(?:25)*([0-9a-fA-F]{2})")
_PASSES: Final = 4
"""How often escapes may stand in escapes: JSON in a URL in JSON, and one more."""

_LEAST: Final = 8
"""Fewest bytes of a secret that is looked for in other spellings: fewer stand anywhere."""


class Blotter:
    """Blots these secrets out. Empty ones are none."""

    def __init__(self, secrets: Collection[bytes]) -> None:
        known = [secret for secret in secrets if secret]
        codes = {code for secret in known for code in _codes(secret)}
        self._plain = sorted({*known, *codes}, key=len, reverse=True)
        bare = {_bare(secret) for secret in known} | codes
        self._bare = sorted((each for each in bare if len(each) >= _LEAST), key=len, reverse=True)

    def blot(self, data: bytes) -> bytes:
        """The same without them, at the same length."""
        for secret in self._plain:
            data = data.replace(secret, b"x" * len(secret))
        if self._bare and (b"\\" in data or b"%" in data):
            return self._blot_spelled(data)
        return data

    def _blot_spelled(self, data: bytes) -> bytes:
        bare = _Bare(data)
        left = bytearray(data)
        for secret in self._bare:
            at = bare.text.find(secret)
            while at >= 0:
                first, last = bare.starts[at], bare.ends[at + len(secret) - 1]
                left[first:last] = b"x" * (last - first)
                at = bare.text.find(secret, at + 1)
        return bytes(left)


class _Bare:
    """A text without its escapes: backslashes are left out, codes are what they stand for.

    `starts` and `ends` say of each byte where in the text it was, its escape included.
    """

    def __init__(self, data: bytes) -> None:
        self.text = data
        self.starts = array("Q", range(len(data)))
        self.ends = array("Q", range(1, len(data) + 1))
        for _ in range(_PASSES):
            if not self._unescape():
                break

    def _unescape(self) -> bool:
        """Take one layer of escapes away. False: there is none."""
        text, starts, ends = bytearray(), array("Q"), array("Q")
        at = 0
        begins: int | None = None
        """Where the escape began that the next byte belongs to."""
        for found in _ESCAPE.finditer(self.text):
            first, past = found.span()
            if at < first:
                text += self.text[at:first]
                starts += self.starts[at:first]
                ends += self.ends[at:first]
                if begins is not None:
                    starts[-(first - at)] = begins
                begins = None
            begins = self.starts[first] if begins is None else begins
            at = past
            if (code := found[1] or found[2]) is not None:
                text.append(int(code, 16))
                starts.append(begins)
                ends.append(self.ends[past - 1])
                begins = None
        is_changed = at > 0
        if is_changed and at < len(self.text):
            text += self.text[at:]
            starts += self.starts[at:]
            ends += self.ends[at:]
            if begins is not None:
                starts[-(len(self.text) - at)] = begins
        if is_changed:
            self.text, self.starts, self.ends = bytes(text), starts, ends
        return is_changed


def _bare(secret: bytes) -> bytes:
    return _Bare(secret).text


def _codes(secret: bytes) -> Iterator[bytes]:
    """What base64 of any text has of a secret that stands anywhere in it, in both alphabets."""
    for before in range(3):
        code = base64.b64encode(bytes(before) + secret)
        # The first characters hold bits of what stands before, the last ones of what follows.
        first = -(-before * 8 // 6)
        last = (before + len(secret)) * 8 // 6
        for written in (code[first:last], code[first:last].translate(_URL_SAFE)):
            if len(written) >= _LEAST:
                yield written


_URL_SAFE: Final = bytes.maketrans(b"+/", b"-_")
