r"""Redact frames so that they hold no text of people, and replay like the originals.

`redactor_of(schema).frame(frame)` returns the redacted frame. Each letter and each digit of a text
becomes one fixed letter of the same length (in code points, in UTF-16 units, in bytes). The
mapping works character by character. So equal texts stay equal, a text that continues another one
still does (at whatever position it was cut, and however it was escaped), and white space stays
where it was. Texts that differ only in their letters become equal: a new text may replay as a
repetition.

Keys stay. The words of the wire stay too: types, roles, statuses, names of tools, ids that look
machine-made. Ids of people and channels, and ids that do not look machine-made, get other names;
an id gets the same name each time. Inside arguments, results and answers only the structure stays,
and inside fields that may hold anything (`hidden_fields`). A frame need not be valid JSON.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from turnwire.core.recording.hidden_fields import HiddenFields
from turnwire.core.wire.schema import WireSchema, tag_of

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
_POINTER: Final = frozenset({"path", "from"})
"""Keys of a patch (RFC 6902) inside hidden fields: which part of the document it changes."""
_STEP: Final = re.compile(r"(?<=/)(?:\d{1,4}|-)(?![^/])")
"""A place in a list, in such a path."""
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
"""Keys that change what the client is sent (`core.safe_json`), so they stay."""

_HIGH, _LOW, _ASTRAL, _LONG, _SHORT = 0xD835, 0xDC65, 0x1D465, 0x5B57, 0xF8


class _Letters(dict[int, int]):
    """Maps each code point to its replacement; filled at the first use of each code point."""

    def __missing__(self, code: int) -> int:
        self[code] = replacement = _replacement(code)
        return replacement


def _replacement(code: int) -> int:
    """The code point that replaces this one; of the same length in UTF-8 and in UTF-16."""
    character = chr(code)
    if code < 0x80:  # noqa: PLR2004 (ASCII)
        return ord("x") if character.isalnum() else code
    if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 (halves of surrogate pairs)
        return _HIGH if code < 0xDC00 else _LOW  # noqa: PLR2004
    if unicodedata.category(character)[0] in "ZC" or character == "\ufffd":
        return code
    if code > 0xFFFF:  # noqa: PLR2004 (more than one UTF-16 unit)
        return _ASTRAL
    return _SHORT if code < 0x800 else _LONG  # noqa: PLR2004 (two bytes, three)


_LETTERS: Final = _Letters()


class Redactor:
    """Redacts the frames of one stream.

    `kept`: keys of the wire whose words and numbers stay, in addition to the usual ones.
    `ids`: keys of ids, in addition to `id` and the keys that end in `Id`.
    `phrases`: beginnings of texts that the dialect reads, and frames that are no JSON; they stay.
    `hidden`, `read`: paths of fields that may hold anything, and of those in them that the dialect
    reads (`hidden_fields`).
    `tags`: types of frames that are arrays. In an array around the body of a frame these stay, and
    so do numbers, which count frames there.
    """

    def __init__(
        self,
        *,
        kept: Collection[str] = (),
        ids: Collection[str] = (),
        phrases: Collection[str] = (),
        hidden: Collection[str] = (),
        read: Collection[str] = (),
        tags: Iterable[str] = (),
    ) -> None:
        self._own_kept = frozenset(kept)
        self._kept = _KEPT.union(kept)
        self._ids = frozenset(ids)
        self._phrases = tuple(phrases)
        self._tags = frozenset(tags)
        self._fields = HiddenFields(hidden, read)
        self._names: dict[str, str] = {}

    def frame(self, frame: bytes) -> bytes:
        """Return a redacted frame. The frame must be valid UTF-8, but need not be valid JSON."""
        if frame.decode() in self._phrases:
            return frame
        fields = self._fields.of(frame)
        containers: list[tuple[str, str, str, bool, bool]] = []
        parent = path = key = ""
        opaque = hidden = False
        is_array = bool(self._tags) and frame.lstrip().startswith(b"[")
        pieces: list[str] = []
        for token in _TOKEN.finditer(frame.decode()):
            text = token.group()
            match token.lastgroup:
                case "key":
                    key = _string_value(text)
                    path = f"{parent}.{key}" if parent else key
                    is_read = path in fields.read or path in fields.ways
                    is_known = not opaque and (is_read or not hidden)
                    pieces.append(text if _is_kept_key(key, is_known=is_known) else _mapped(text))
                case "string":
                    if opaque:
                        pieces.append(_mapped(text))
                    elif hidden or path in fields.hidden:
                        stays = path in fields.read
                        pieces.append(self._hidden_string(key, text) if stays else _mapped(text))
                    else:
                        pieces.append(self._string(key, text))
                case "number":
                    is_kept = key in self._kept or (is_array and len(containers) == 1)
                    stays = is_kept and not opaque and not hidden
                    pieces.append(text if stays else _SIGNIFICANT.sub(_ones, text))
                case "open":
                    containers.append((parent, path, key, opaque, hidden))
                    opaque = opaque or (key in _OPAQUE and path not in fields.ways)
                    hidden = hidden or path in fields.hidden
                    parent = path if text == "{" else parent
                    pieces.append(text)
                case "close":
                    usual = ("", "", "", False, False)
                    parent, path, key, opaque, hidden = containers.pop() if containers else usual
                    pieces.append(text)
                case "word":
                    pieces.append(text)
                case _:
                    pieces.append(text.translate(_LETTERS))
        return "".join(pieces).encode()

    def text(self, text: str) -> str:
        """Return the redacted text of a person. A command (`/word`) stays."""
        if _COMMAND.fullmatch(text):
            return text
        for phrase in self._phrases:
            if text.startswith(phrase):
                return phrase + text[len(phrase) :].translate(_LETTERS)
        return text.translate(_LETTERS)

    def name(self, name: str) -> str:
        """Return another name for a person or a channel, the same one each time.

        It has the same length, unless the name is too short. `default` stays.
        """
        if name == "default":
            return name
        alias = self._names.get(name)
        if alias is None:
            self._names[name] = alias = f"n{len(self._names) + 1}".ljust(len(name), "x")
        return alias

    def word(self, word: str) -> str:
        """Return a word of the wire: unchanged if it looks machine-made, else redacted."""
        return word if _MACHINE.fullmatch(word) else word.translate(_LETTERS)

    def machine_id(self, value: str) -> str:
        """Return an id: unchanged if it looks machine-made and `name` has not replaced it."""
        alias = self._names.get(value)
        return alias or (value if _MACHINE.fullmatch(value) else self.name(value))

    def _hidden_string(self, key: str, literal: str) -> str:
        """As `_string`, for a field that the dialect reads, and whose neighbours are hidden."""
        value = _string_value(literal)
        if value and (key == "id" or key in self._ids):
            return _quoted(self.machine_id(value))
        if value in self._phrases or (key in self._own_kept and _MACHINE.fullmatch(value)):
            return literal
        return _pointer(literal) if key in _POINTER else _mapped(literal)

    def _string(self, key: str, literal: str) -> str:
        """The redacted literal of a string that is the value of `key`."""
        value = _string_value(literal)
        if not key and value in self._tags:
            return literal
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


def redactor_of(schema: WireSchema) -> Redactor:
    """Return the redactor of one stream of a dialect."""
    return Redactor(
        kept=schema.kept,
        ids=schema.ids,
        phrases=schema.phrases,
        hidden=schema.hidden,
        read=schema.read,
        tags=() if schema.split is None else map(tag_of, schema.frames),
    )


def _is_kept_key(key: str, *, is_known: bool) -> bool:
    return key in _DANGEROUS or (is_known and _PLAIN_KEY.fullmatch(key) is not None)


def _string_value(literal: str) -> str:
    """The value of a JSON string; if the literal is not valid, the text between its quotes."""
    try:
        return msgspec.json.decode(literal, type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return literal.strip('"')


def _quoted(value: str) -> str:
    return msgspec.json.encode(value).decode()


def _mapped(literal: str) -> str:
    """A string literal with each letter and digit replaced, also the escaped ones."""
    if "\\" not in literal:
        return literal.translate(_LETTERS)
    return "".join(map(_piece, _ESCAPE.split(literal)))


def _pointer(literal: str) -> str:
    """The literal of a path into a document: as `_mapped`, but places in lists stay."""
    steps, mapped = list(_STEP.finditer(literal[:-1])), _mapped(literal)
    for step in steps:
        mapped = mapped[: step.start()] + step.group() + mapped[step.end() :]
    return mapped


def _piece(piece: str) -> str:
    if piece.startswith("\\u") and len(piece) == len("\\u0000"):
        code = int(f"0x{piece[2:]}", base=0)
        return f"\\u{_LETTERS[code]:04x}"
    return piece if piece.startswith("\\") else piece.translate(_LETTERS)


def _ones(digits: re.Match[str]) -> str:
    return "1" * len(digits.group())
