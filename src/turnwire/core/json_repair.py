r"""Repair of long JSON as bytes, without decoding it: only functions written in C do the work.

`core.safe_json` says which values a client's parser refuses. It decodes short JSON to rename and
replace these values. Long JSON with very many values would block the event loop for too long, so
it is repaired here, in its text:

* an escape that spells a letter is replaced by that letter, so that no key is hidden by escapes;
* a refused key is renamed where it stands before a colon. The quotation mark that begins a key
  follows a brace, a comma or white space, and never a backslash. The new name is one that does not
  occur in the text. It is unknown which object `prototype` belongs to, so if the text has any
  `prototype`, each `constructor` is renamed;
* half of a surrogate pair becomes U+FFFD;
* `NaN` and the infinities become `null` where they stand outside of strings.
"""

import re
from typing import Final

NUMBERS_MAX: Final = 20_000
"""Most occurrences of `NaN` and `Infinity` in one text, inside of strings too."""

_BACKSLASH: Final = rb"\\"
_PLACEHOLDER: Final = b"\0\0"
"""Replaces an escaped backslash for a while. JSON cannot contain a NUL, so it is unambiguous."""

_LETTERS: Final = tuple(
    (rb"\u00%02x" % ord(letter), rb"\u00%02X" % ord(letter), letter.encode())
    for letter in sorted(set("__proto__constructorprototype"))
)
_LETTER_ESCAPE: Final = re.compile(rb"\\u00[5-7][0-9a-fA-F]")
_HALF_PAIR: Final = re.compile(
    rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F].."
)
_PROTO: Final = re.compile(rb'(?<!\\)"__proto__"(?=\s*+:)')
_CONSTRUCTOR: Final = re.compile(rb'(?<!\\)"constructor"(?=\s*+:\s*+[n{])')
_CONSTRUCTOR_OF_NULL: Final = re.compile(rb'(?<!\\)"constructor"(?=\s*+:\s*+n)')
_INVALID_NUMBER: Final = re.compile(rb"(?<![\w.$])(?:NaN|-?Infinity)(?![\w.$])")


def repair(data: bytes) -> bytes:
    """Rewrite JSON so that every client's parser accepts it.

    `data` is valid JSON, except that it may have halves of surrogate pairs.
    """
    if b"\\u" in data:
        text = data.replace(_BACKSLASH, _PLACEHOLDER)
        if _LETTER_ESCAPE.search(text) is not None:
            for lower, upper, letter in _LETTERS:
                text = text.replace(lower, letter).replace(upper, letter)
        data = _HALF_PAIR.sub(rb"\\ufffd", text).replace(_PLACEHOLDER, _BACKSLASH)
    if b'"__proto__"' in data:
        data = _PROTO.sub(_unused_name(b"_proto_", data), data)
    if b'"constructor"' in data:
        refused = _CONSTRUCTOR if b'"prototype"' in data else _CONSTRUCTOR_OF_NULL
        data = refused.sub(_unused_name(b"_constructor_", data), data)
    return data


def strict(data: bytes) -> bytes:
    """Rewrite JSON with `NaN`, infinities and halves of surrogate pairs as strict JSON.

    Raises:
        ValueError: it has a NUL, or more than `NUMBERS_MAX` such numbers.

    """
    if b"\0" in data:
        raise ValueError("a NUL")
    # `text` and `data` have the same length, so a position in one is a position in the other.
    text = data.replace(_BACKSLASH, _PLACEHOLDER).replace(rb"\"", _PLACEHOLDER)
    pieces: list[bytes] = []
    quotes = counted_to = copied_to = 0
    for count, match in enumerate(_INVALID_NUMBER.finditer(text)):
        if count >= NUMBERS_MAX:
            raise ValueError("too many numbers that are none")
        start, end = match.span()
        quotes += text.count(b'"', counted_to, start)
        counted_to = start
        if quotes % 2 == 0:
            pieces += (data[copied_to:start], b"null")
            copied_to = end
    pieces.append(data[copied_to:])
    return repair(b"".join(pieces))


def _unused_name(name: bytes, data: bytes) -> bytes:
    """This name in quotes, with as many underlines added as make it unused in `data`."""
    used = re.findall(b'"%b(_*+)"' % name, data)
    underlines = 1 + max(map(len, used)) if used else 0
    return b'"%b%b"' % (name, b"_" * underlines)
