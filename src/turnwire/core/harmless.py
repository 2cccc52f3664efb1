r"""Values that a client's parser would refuse, made harmless.

One record with such a value ends the client's whole turn, so no value is
dropped and none goes out as it came:

* an object key `__proto__`, or `constructor` over an object with `prototype`
  (AI SDK, provider-utils/src/secure-json-parse.ts), also where escapes hide
  them: the key is renamed;
* `NaN` and the infinities, which JSON does not have: `null`;
* half of a surrogate pair, which UTF-8 does not have: U+FFFD;
* a line break between two JSON tokens, which would end the `data:` line.
"""

import contextlib
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from turnwire.core import mending
from turnwire.core.bounds import ID_MAX, HandedOn

_ESCAPES = re.compile(
    rb"\\u00[4-7]"
    rb"|\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]"
)
r"""Escapes that may need work, once `\\\\` is out of the way.

`\u00[4-7]` is an ASCII letter or `_`, and so may hide a key; the others are
halves of a surrogate pair without the other half.
"""

_BREAKS_TO_SPACES = bytes.maketrans(b"\r\n", b"  ")
"""JSON has raw line breaks between its tokens alone."""

LOOSE_MAX = 4_194_304
"""Longest JSON, in bytes, that is mended: it holds the event loop."""

LOOSE_VALUES_MAX = 10_000
"""Most commas and brackets of JSON that is taken apart and put together anew. What has more is
mended as it stands (`core.mending`)."""

_RENAMED = {"__proto__": "_proto_", "constructor": "_constructor_"}

ERROR_TEXT_MAX = 2_000
"""Longest error text of an agent that is shown to a client, in characters."""

_DIGITS_MAX = 1_000

_SHORT_BYTES = 12 * ID_MAX
"""A character takes two escapes at most."""

TOO_DEEP = b'"(nested too deeply)"'
TOO_LONG = b'"(too long)"'


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    for key, renamed in _RENAMED.items():
        if key not in made or (key == "constructor" and not _has_prototype(made[key])):
            continue
        free = renamed
        while free in made:
            free += "_"
        made = {free if name == key else name: value for name, value in made.items()}
    return made


def _has_prototype(value: Any) -> bool:
    """Whether a client refuses it as a constructor. 5.0.0 and 6.0.0 trip over `null` too."""
    return value is None or (isinstance(value, dict) and "prototype" in value)


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if abs(number) != float("inf") else None


def _whole(digits: str) -> float | None:
    # Python refuses to read longer integers; a client rounds them anyway.
    return int(digits) if len(digits) < _DIGITS_MAX else _finite(digits)


def _seen(_: Any) -> None:
    """Nothing is to be changed."""


class _Head(Struct):
    type: HandedOn


class _Error(Struct):
    message: HandedOn


_error = msgspec.json.Decoder(_Error).decode
_head = msgspec.json.Decoder(_Head).decode
_string = msgspec.json.Decoder(str).decode
_TYPE_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"([!#-\[\]-~]{0,64})"')

_lenient = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=lambda _: None,
    parse_float=_finite,
    parse_int=_whole,
).decode


def parse(data: bytes) -> Any:
    """Parse JSON leniently: NaN, infinities and halves of surrogate pairs are let in.

    Raises:
        ValueError: it is no JSON even so, is longer than `LOOSE_MAX`, or has too many values.
        RecursionError: it is nested too deeply.

    """
    if len(data) > LOOSE_MAX or has_many_values(data):
        raise ValueError("too much to be read leniently")
    return _lenient(data.decode(errors="replace"))


def has_many_values(data: bytes) -> bool:
    """Whether to take this apart would hold everybody up; marks inside of strings count too."""
    least = len(data) // 2
    if least < LOOSE_VALUES_MAX:
        return False
    marks = data.count(b",") + data.count(b"{") + data.count(b"[")
    return marks > LOOSE_VALUES_MAX


def dump(value: Any) -> bytes:
    """Write what `parse` gave as strict JSON in UTF-8, on one line.

    Raises:
        RecursionError: it is nested too deeply.

    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return mend(text).encode()


def value(raw: Raw) -> Raw:
    """A JSON value that every client's parser takes. `raw` is valid JSON; most come back as is."""
    data = bytes(raw)
    if b"\n" in data or b"\r" in data:
        data = data.translate(_BREAKS_TO_SPACES)
    if not _is_suspect(data):
        return Raw(data)
    if len(data) > LOOSE_MAX:
        return Raw(TOO_LONG)
    try:
        return Raw(mending.mended(data) if has_many_values(data) else dump(parse(data)))
    except RecursionError:
        return Raw(TOO_DEEP)


def _is_suspect(data: bytes) -> bool:
    if b'"__proto__"' in data or b'"constructor"' in data:
        return True
    return b"\\u" in data and _ESCAPES.search(data.replace(rb"\\", b"")) is not None


def strictly(frame: bytes, look: Callable[[Any], object] = _seen) -> tuple[bytes, Any]:
    """A frame that is nearly JSON as strict JSON, and what it says where it was taken apart.

    `look` may change what it says before it is written.

    Raises:
        ValueError: it is no JSON even so, or too long.
        RecursionError: it is nested too deeply.

    """
    if not frame.lstrip().startswith(b"{"):
        raise ValueError("no object")
    if len(frame) <= LOOSE_MAX and has_many_values(frame):
        return mending.strict(frame), None
    loose = parse(frame)
    look(loose)
    return dump(loose), loose


def kind(frame: bytes) -> str:
    """The `type` of a frame that did not fit, be it strict JSON or not; empty if it has none."""
    with contextlib.suppress(ValueError, RecursionError):
        try:
            return _head(frame).type
        except (msgspec.DecodeError, RecursionError):
            return _head(dump(parse(frame))).type
    return ""


def kinds(frame: bytes, among: Sequence[str]) -> Sequence[str]:
    """Which of these types a long frame is of. It is known at once where it says so first.

    What is no strict JSON may be of each whose word it has, or may hide.
    """
    first = _TYPE_FIRST.match(frame)
    try:
        said = _head(frame).type if first is None else first[1].decode()
    except (msgspec.DecodeError, RecursionError):
        hides = b"\\u00" in frame
        return [kind for kind in among if hides or b'"%b"' % kind.encode() in frame]
    return [kind for kind in among if kind == said]


def mend(text: str) -> str:
    """Join the surrogate pairs of a text; a half that stays alone becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def split_half(text: str) -> tuple[str, str]:
    """Part a text from the high surrogate it may end with, whose other half may still come."""
    if text and "\ud800" <= text[-1] <= "\udbff":
        return text[:-1], text[-1]
    return text, ""


def string(raw: Raw) -> str | None:
    """A JSON string, halves of surrogate pairs included; None for anything else."""
    data = bytes(raw)
    if not data.startswith(b'"'):
        return None
    try:
        return _string(data)
    except msgspec.DecodeError:
        said: str = json.loads(data)
        return said


def short(raw: Raw) -> str | None:
    """A JSON string that may be kept: an id, a name; None for one that is longer than those are."""
    size = len(raw)
    if size <= ID_MAX:  # a character has a byte at least
        return string(raw) if size else None
    if size > _SHORT_BYTES:
        return None
    said = string(raw)
    return None if said is None or len(said) > ID_MAX else said


def words(raw: Raw) -> str | None:
    """An agent's error: a string, an object with a message, or anything else as its JSON."""
    if not raw:
        return None
    with contextlib.suppress(msgspec.DecodeError, RecursionError):  # nearly all of them
        return _error(raw).message
    try:
        said: Any = parse(bytes(raw))
    except (ValueError, RecursionError):
        return None
    if isinstance(said, dict) and isinstance(said.get("message"), str):
        said = said["message"]
    if said is None or isinstance(said, str):
        return said
    return bytes(raw).decode()


def error_text(text: str | None, default: str) -> str:
    """An agent's error text, fit for a client: bounded, without control characters."""
    if not text:
        return default
    plain = mend(" ".join(text[: 2 * ERROR_TEXT_MAX].split()))
    shown = "".join(c for c in plain if unicodedata.category(c) != "Cc")[:ERROR_TEXT_MAX]
    return shown or default
