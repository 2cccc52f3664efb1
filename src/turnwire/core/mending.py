r"""Long JSON made harmless as text, without taking it apart: the time it takes is that of C alone.

`core.harmless` says what a client's parser refuses, and takes short JSON apart to rename and
replace it. What has so many values that this would hold everybody up is mended here, where
it stands:

* escapes that spell a letter are that letter, so that no key hides behind one;
* a key is renamed where it stands before a colon: a quotation mark that begins a key follows a
  brace, a comma or white space, and never a backslash. The new name is one that nothing in
  the text has. Of a `constructor` it is not known whether *its* object has the `prototype`,
  so it is renamed if any has;
* half of a surrogate pair becomes U+FFFD;
* `NaN` and the infinities become `null` where they stand outside of strings.
"""

import re
from typing import Final

NUMBERS_MAX: Final = 20_000
"""Most things in one text that look like a number that JSON does not have."""

_BACKSLASH: Final = rb"\\"
_STANDS_FOR_IT: Final = b"\0\0"
"""In place of an escaped backslash: no JSON has a NUL in it."""

_LETTERS: Final = tuple(
    (rb"\u00%02x" % ord(letter), rb"\u00%02X" % ord(letter), letter.encode())
    for letter in sorted(set("__proto__constructorprototype"))
)
_HIDDEN: Final = re.compile(rb"\\u00[5-7][0-9a-fA-F]")
_HALF: Final = re.compile(
    rb"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F].."
)
_PROTO: Final = re.compile(rb'(?<!\\)"__proto__"(?=\s*+:)')
_CONSTRUCTOR: Final = re.compile(rb'(?<!\\)"constructor"(?=\s*+:\s*+[n{])')
_OF_NULL: Final = re.compile(rb'(?<!\\)"constructor"(?=\s*+:\s*+n)')
_NO_NUMBER: Final = re.compile(rb"(?<![\w.$])(?:NaN|-?Infinity)(?![\w.$])")


def mended(data: bytes) -> bytes:
    """Valid JSON, but for halves of surrogate pairs, as every client's parser takes it."""
    if b"\\u" in data:
        text = data.replace(_BACKSLASH, _STANDS_FOR_IT)
        if _HIDDEN.search(text) is not None:
            for lower, upper, letter in _LETTERS:
                text = text.replace(lower, letter).replace(upper, letter)
        data = _HALF.sub(rb"\\ufffd", text).replace(_STANDS_FOR_IT, _BACKSLASH)
    if b'"__proto__"' in data:
        data = _PROTO.sub(_free(b"_proto_", data), data)
    if b'"constructor"' in data:
        guilty = _CONSTRUCTOR if b'"prototype"' in data else _OF_NULL
        data = guilty.sub(_free(b"_constructor_", data), data)
    return data


def strict(data: bytes) -> bytes:
    """JSON but for numbers that it does not have, and halves of surrogate pairs, as JSON.

    Raises:
        ValueError: it has more such numbers than anybody sends, or a NUL.

    """
    if b"\0" in data:
        raise ValueError("a NUL")
    # Of the same length, so that places in one are places in the other.
    text = data.replace(_BACKSLASH, _STANDS_FOR_IT).replace(rb"\"", _STANDS_FOR_IT)
    made: list[bytes] = []
    marks = looked = taken = 0
    for count, found in enumerate(_NO_NUMBER.finditer(text)):
        if count >= NUMBERS_MAX:
            raise ValueError("too many numbers that are none")
        start, end = found.span()
        marks += text.count(b'"', looked, start)
        looked = start
        if marks % 2 == 0:
            made += (data[taken:start], b"null")
            taken = end
    made.append(data[taken:])
    return mended(b"".join(made))


def _free(name: bytes, data: bytes) -> bytes:
    """This name, or with so many underlines behind it that nothing is called so."""
    taken = re.findall(b'"%b(_*+)"' % name, data)
    more = 1 + max(map(len, taken)) if taken else 0
    return b'"%b%b"' % (name, b"_" * more)
