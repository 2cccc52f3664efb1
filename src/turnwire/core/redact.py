r"""Frames with nobody's words in them, that a replay still takes apart in the same way.

Each letter and digit of a text becomes one letter of the same length (in code points, in UTF-16
units, in bytes), each by itself. So what was equal stays equal, what went on from another text
still does, wherever it was cut and however it was escaped, and white space stays where it was.
What differed in its letters alone is equal then: a text that was news may replay as a repetition.

Keys stay, and so do the words that a wire is made of: types, roles, statuses, names of tools, ids
that look like a machine's. Ids of people and channels, and such as do not look like one, get other
names, the same one each time. Within arguments, results and answers nothing stays but the
structure. A frame need not be JSON for all this.
"""

import re
import unicodedata
from collections.abc import Collection
from typing import Final

import msgspec

_TOKEN: Final = re.compile(
    r'(?P<string>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z|\\\Z))(?P<key>(?=\s*:))?'
    r"|(?P<number>-?\d[\d.eE+-]*)"
    r"|(?P<word>\b(?:true|false|null|NaN|Infinity)\b)"
    r"|(?P<open>[{\[])|(?P<close>[}\]])"
    r"|(?P<other>[^\"\d{}\[\]])",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"(\\u[0-9a-fA-F]{4}|\\.?)", re.DOTALL)
_SIGNIFICANT: Final = re.compile(r"\d+")
_MACHINE: Final = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.-]{0,63}")
_COMMAND: Final = re.compile(r"/[a-z]{1,16}")
_SCHEME: Final = re.compile(r"https?://|data:", re.IGNORECASE)

_OPAQUE: Final = frozenset({"args", "result", "answer", "input", "output", "arguments", "value"})
_KEPT: Final = frozenset(
    {
        *("type", "role", "status", "reason", "state", "kind", "eventType"),
        *("toolName", "channelType", "mime"),
    }
)
_PEOPLE: Final = frozenset({"userId", "authorId", "actorId", "resolvedBy"})
_CHANNELS: Final = frozenset({"channelId", "threadId"})
_DANGEROUS: Final = frozenset({"__proto__", "constructor", "prototype"})
"""Keys that change what a client is sent (`core.harmless`), so they stay."""

_HIGH, _LOW, _ASTRAL, _LONG, _SHORT = 0xD835, 0xDC65, 0x1D465, 0x5B57, 0xF8


class _Letters(dict[int, int]):
    """One letter for each of a length; found out when it is asked for first."""

    def __missing__(self, code: int) -> int:
        self[code] = made = _letter(code)
        return made


def _letter(code: int) -> int:
    shown = chr(code)
    if code < 0x80:  # noqa: PLR2004 (ASCII)
        return ord("x") if shown.isalnum() else code
    if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 (halves of surrogate pairs)
        return _HIGH if code < 0xDC00 else _LOW  # noqa: PLR2004
    if unicodedata.category(shown)[0] in "ZC" or shown == "\ufffd":
        return code
    if code > 0xFFFF:  # noqa: PLR2004 (more than one UTF-16 unit)
        return _ASTRAL
    return _SHORT if code < 0x800 else _LONG  # noqa: PLR2004 (two bytes, three)


_LETTERS: Final = _Letters()


class Redactor:
    """Redacts the frames of one stream.

    `kept` are keys of its wire whose words and numbers stay, besides the usual ones; `ids` keys
    of ids beside those that end so; `phrases` beginnings of texts that the wire is read by.
    """

    def __init__(
        self,
        *,
        kept: Collection[str] = (),
        ids: Collection[str] = (),
        phrases: Collection[str] = (),
    ) -> None:
        self._kept = _KEPT.union(kept)
        self._ids = frozenset(ids)
        self._phrases = tuple(phrases)
        self._names: dict[str, str] = {}

    def frame(self, frame: bytes) -> bytes:
        """Redact a frame, of any shape, in valid UTF-8."""
        holders: list[tuple[str, bool]] = []
        key, opaque = "", False
        made: list[str] = []
        for token in _TOKEN.finditer(frame.decode()):
            text = token.group()
            match token.lastgroup:
                case "key":
                    key = _inside(text)
                    made.append(text if self._stays(key, opaque=opaque) else _mapped(text))
                case "string":
                    made.append(_mapped(text) if opaque else self._string(key, text))
                case "number":
                    stays = key in self._kept and not opaque
                    made.append(text if stays else _SIGNIFICANT.sub(_ones, text))
                case "open":
                    holders.append((key, opaque))
                    opaque = opaque or key in _OPAQUE
                    made.append(text)
                case "close":
                    key, opaque = holders.pop() if holders else ("", False)
                    made.append(text)
                case "word":
                    made.append(text)
                case _:
                    made.append(text.translate(_LETTERS))
        return "".join(made).encode()

    def text(self, text: str) -> str:
        """Redact what somebody wrote."""
        if _COMMAND.fullmatch(text):
            return text
        for phrase in self._phrases:
            if text.startswith(phrase):
                return phrase + text[len(phrase) :].translate(_LETTERS)
        return text.translate(_LETTERS)

    def name(self, name: str) -> str:
        """Another name, of the same length if it is not too short, for somebody or something."""
        if name == "default":
            return name
        known = self._names.get(name)
        if known is None:
            self._names[name] = known = f"n{len(self._names) + 1}".ljust(len(name), "x")
        return known

    def word(self, word: str) -> str:
        """A word that the wire is read by, which stays if it looks like one."""
        return word if _MACHINE.fullmatch(word) else word.translate(_LETTERS)

    def machine_id(self, given: str) -> str:
        """An id, which stays if it looks like a machine's and has not got another name."""
        known = self._names.get(given)
        return known or (given if _MACHINE.fullmatch(given) else self.name(given))

    def _stays(self, key: str, *, opaque: bool) -> bool:
        return key in _DANGEROUS or (not opaque and _PLAIN_KEY.fullmatch(key) is not None)

    def _string(self, key: str, literal: str) -> str:
        value = _inside(literal)
        if key in _PEOPLE or key in _CHANNELS:
            return _quoted(self.name(value)) if value else literal
        if key == "id" or key.endswith("Id") or key in self._ids:
            return _quoted(self.machine_id(value)) if value else literal
        if key in _OPAQUE:
            return _mapped(literal)
        if key in self._kept and _MACHINE.fullmatch(value):
            return literal
        if key == "url" and (scheme := _SCHEME.match(value)):
            return _quoted(scheme.group() + value[scheme.end() :].translate(_LETTERS))
        if _COMMAND.fullmatch(value) or value.startswith(self._phrases):
            return _quoted(self.text(value))
        return _mapped(literal)


def _inside(literal: str) -> str:
    """What a JSON string says; where it is none, what stands between its quotes."""
    try:
        return msgspec.json.decode(literal, type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return literal.strip('"')


def _quoted(value: str) -> str:
    return msgspec.json.encode(value).decode()


def _mapped(literal: str) -> str:
    if "\\" not in literal:
        return literal.translate(_LETTERS)
    return "".join(map(_piece, _ESCAPE.split(literal)))


def _piece(piece: str) -> str:
    if piece.startswith("\\u") and len(piece) == len("\\u0000"):
        code = int(f"0x{piece[2:]}", base=0)
        return f"\\u{_LETTERS[code]:04x}"
    return piece if piece.startswith("\\") else piece.translate(_LETTERS)


def _ones(digits: re.Match[str]) -> str:
    return "1" * len(digits.group())
