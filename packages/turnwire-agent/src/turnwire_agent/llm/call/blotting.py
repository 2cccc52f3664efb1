"""Secrets blotted out of what people see."""

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

import msgspec

SECRET_CHARS: Final = 8
"""Fewest characters of a secret that is looked for everywhere. A shorter one may be a word of the
text, as the `none` that a server without keys gets: it is blotted in its header alone."""

BLOT: Final = b"[secret]"
HIDDEN: Final = frozenset(
    {
        b"authorization",
        b"cookie",
        b"proxy-authorization",
        b"set-cookie",
        b"x-api-key",
        b"x-goog-api-key",
    }
)
"""Headers whose values are never shown, beside those of the credential."""


class Blotting:
    """Replaces secrets in bytes that come in pieces. It holds what may be the half of one.

    Args:
        secrets: As they may stand there.
    """

    def __init__(self, secrets: Iterable[bytes]) -> None:
        self._secrets = sorted(set(secrets), key=len, reverse=True)
        self._pattern = (
            re.compile(b"|".join(map(re.escape, self._secrets))) if self._secrets else None
        )
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """What can be shown by now."""
        if not self._pattern:
            return piece
        text = self._held + piece
        matches = list(self._pattern.finditer(text))
        end = len(text) - self._half(text[matches[-1].end() if matches else 0 :])
        self._held = text[end:]
        return self._pattern.sub(BLOT, text[:end])

    def end(self) -> bytes:
        """What was held: it is no secret, since it is none to its end."""
        held, self._held = self._held, b""
        return held

    def _half(self, text: bytes) -> int:
        """How many of the last bytes begin a secret."""
        longest = len(self._secrets[0]) - 1
        for size in range(min(longest, len(text)), 0, -1):
            if any(secret.startswith(text[-size:]) for secret in self._secrets):
                return size
        return 0


def spellings(headers: Mapping[str, str]) -> frozenset[bytes]:
    """How the secrets of a credential may stand in a text: plain, as JSON, in a URL."""
    found = set()
    for value in headers.values():
        for secret in {value, value.rpartition(" ")[2]}:
            if len(secret) >= SECRET_CHARS:
                as_json = msgspec.json.encode(secret)[1:-1]
                found |= {secret.encode(), as_json, quote(secret, safe="").encode()}
    return frozenset(found)


def blotted(text: str, secrets: Iterable[bytes]) -> str:
    """A text without secrets, and without a secret's half where the text is cut."""
    blotting = Blotting(secrets)
    shown = blotting.feed(text.encode("utf-8", "replace"))
    rest = blotting.end()
    return (shown + (rest if len(rest) < SECRET_CHARS else BLOT)).decode("utf-8", "replace")


def blotted_head(head: bytes, names: Iterable[str]) -> bytes:
    """The head of a request or a response, without the values of some headers and of `HIDDEN`."""
    hidden = HIDDEN | {name.lower().encode() for name in names}
    lines = []
    for line in head.split(b"\r\n"):
        name, colon, _ = line.partition(b": ")
        lines.append(name + colon + BLOT if colon and name.lower() in hidden else line)
    return b"\r\n".join(lines)
