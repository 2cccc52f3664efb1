r"""Makes JSON from an agent safe for the parsers of clients, and reads JSON leniently.

`sanitize` is for values that go to a client, `parse_strictly` for frames that come in.
One record with a value that a client's parser refuses ends the client's whole turn. So such
a value is replaced, and no value is dropped:

* an object key `__proto__`, or `constructor` with an object that has `prototype`
  (AI SDK, provider-utils/src/secure-json-parse.ts), also if the key is written with
  escapes: the key is renamed;
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

from turnwire.core import json_repair
from turnwire.core.bounds import ID_MAX, HandedOn

_ESCAPES = re.compile(
    rb"\\u00[4-7]"
    rb"|\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]"
)
r"""Escapes that may need a repair, after each `\\\\` is replaced by spaces.

`\u00[4-7]` is an ASCII letter or `_`, and so may be part of a refused key. The others are
halves of a surrogate pair without the other half.
"""

_BREAKS_TO_SPACES = bytes.maketrans(b"\r\n", b"  ")
"""JSON has raw line breaks only between its tokens."""

LOOSE_MAX = 4_194_304
"""Longest JSON that is repaired, in bytes. A repair blocks the event loop."""

LOOSE_VALUES_MAX = 10_000
"""Most commas and brackets of JSON that is decoded and encoded again. JSON with more is repaired
as text (`core.json_repair`)."""

_RENAMED = {"__proto__": "_proto_", "constructor": "_constructor_"}

ERROR_TEXT_MAX = 2_000
"""Longest error text of an agent that is shown to a client, in characters."""

_DIGITS_MAX = 1_000

_SHORT_BYTES = 12 * ID_MAX
"""Most bytes of a JSON string of `ID_MAX` characters: one character takes at most two escapes."""

TOO_DEEP = b'"(nested too deeply)"'
TOO_LONG = b'"(too long)"'


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    for key, renamed in _RENAMED.items():
        if key not in fields or (key == "constructor" and not _has_prototype(fields[key])):
            continue
        unused = renamed
        while unused in fields:
            unused += "_"
        fields = {unused if name == key else name: value for name, value in fields.items()}
    return fields


def _has_prototype(value: Any) -> bool:
    """Whether a client refuses this value of `constructor`: 5.0.0 and 6.0.0 fail at `null` too."""
    return value is None or (isinstance(value, dict) and "prototype" in value)


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if abs(number) != float("inf") else None


def _whole(digits: str) -> float | None:
    # Python does not read longer integers; a client rounds them anyway.
    return int(digits) if len(digits) < _DIGITS_MAX else _finite(digits)


def _unchanged(_: Any) -> None:
    """Change nothing."""


class _Typed(Struct):
    type: HandedOn


class _Error(Struct):
    message: HandedOn


_decode_error = msgspec.json.Decoder(_Error).decode
_decode_type = msgspec.json.Decoder(_Typed).decode
_decode_string = msgspec.json.Decoder(str).decode
_decode_any = msgspec.json.Decoder().decode
_TYPE_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"([!#-\[\]-~]{0,64})"')

_lenient = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=lambda _: None,
    parse_float=_finite,
    parse_int=_whole,
).decode


def parse(data: bytes) -> Any:
    """Parse JSON leniently: NaN, infinities and halves of surrogate pairs are accepted.

    Raises:
        ValueError: it is not even such JSON, is longer than `LOOSE_MAX`, or has too many values.
        RecursionError: it is nested too deeply.

    """
    if len(data) > LOOSE_MAX or has_many_values(data):
        raise ValueError("too much to be read leniently")
    return _lenient(data.decode(errors="replace"))


def from_text(text: str) -> Raw:
    """The JSON that a text holds; of a text that holds none, a JSON string.

    The whole text is decoded at once, so the caller limits its length.
    """
    data = join_surrogates(text).encode()
    try:
        _decode_any(data)
    except (msgspec.DecodeError, RecursionError):
        try:
            return Raw(dump(parse(data)))
        except (ValueError, RecursionError):
            return Raw(msgspec.json.encode(data.decode()))
    return Raw(data)


def has_many_values(data: bytes) -> bool:
    """Whether decoding this would block the event loop for too long.

    Commas and brackets inside of strings count too.
    """
    most = len(data) // 2
    if most < LOOSE_VALUES_MAX:
        return False
    marks = data.count(b",") + data.count(b"{") + data.count(b"[")
    return marks > LOOSE_VALUES_MAX


def dump(value: Any) -> bytes:
    """Encode a result of `parse` as strict JSON in UTF-8, on one line.

    Raises:
        RecursionError: it is nested too deeply.

    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return join_surrogates(text).encode()


def sanitize(raw: Raw) -> Raw:
    """A JSON value that every client's parser accepts.

    `raw` is valid JSON. Most values are returned unchanged.
    """
    data = bytes(raw)
    if b"\n" in data or b"\r" in data:
        data = data.translate(_BREAKS_TO_SPACES)
    if not _is_suspect(data):
        return Raw(data)
    if len(data) > LOOSE_MAX:
        return Raw(TOO_LONG)
    try:
        return Raw(json_repair.repair(data) if has_many_values(data) else dump(parse(data)))
    except RecursionError:
        return Raw(TOO_DEEP)


def _is_suspect(data: bytes) -> bool:
    if b'"__proto__"' in data or b'"constructor"' in data:
        return True
    # Not removed: two halves with only a backslash between them would look like a pair.
    return b"\\u" in data and _ESCAPES.search(data.replace(rb"\\", b"  ")) is not None


def parse_strictly(frame: bytes, edit: Callable[[Any], object] = _unchanged) -> tuple[bytes, Any]:
    """Convert a frame that is nearly JSON to strict JSON.

    Returns the strict JSON, and its decoded value, which is None for a frame with very many
    values. `edit` may change the decoded value before it is encoded.

    Raises:
        ValueError: it is not even nearly JSON, or is too long.
        RecursionError: it is nested too deeply.

    """
    if not frame.lstrip().startswith((b"{", b"[")):
        raise ValueError("neither an object nor an array")
    if len(frame) <= LOOSE_MAX and has_many_values(frame):
        return json_repair.strict(frame), None
    loose = parse(frame)
    edit(loose)
    return dump(loose), loose


def frame_type(frame: bytes) -> str:
    """The `type` of a frame that could not be decoded, strict JSON or not; empty if it has none."""
    with contextlib.suppress(ValueError, RecursionError):
        try:
            return _decode_type(frame).type
        except (msgspec.DecodeError, RecursionError):
            return _decode_type(dump(parse(frame))).type
    return ""


def frame_types(frame: bytes, among: Sequence[str]) -> Sequence[str]:
    """Which of the types in `among` a long frame may have.

    If `type` is the first field, it is read without decoding the rest. A frame that is not strict
    JSON may have each type whose name it contains, or may contain as escapes.
    """
    first = _TYPE_FIRST.match(frame)
    try:
        found_type = _decode_type(frame).type if first is None else first[1].decode()
    except (msgspec.DecodeError, RecursionError):
        has_escapes = b"\\u00" in frame
        return [kind for kind in among if has_escapes or b'"%b"' % kind.encode() in frame]
    return [kind for kind in among if kind == found_type]


def join_surrogates(text: str) -> str:
    """Join the surrogate pairs of a text. A half without its other half becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def split_half(text: str) -> tuple[str, str]:
    """Split off a high surrogate at the end of a text. Its other half may come with more text."""
    if text and "\ud800" <= text[-1] <= "\udbff":
        return text[:-1], text[-1]
    return text, ""


def string(raw: Raw) -> str | None:
    """A JSON string, halves of surrogate pairs included; None for anything else."""
    data = bytes(raw)
    if not data.startswith(b'"'):
        return None
    try:
        return _decode_string(data)
    except msgspec.DecodeError:
        text: str = json.loads(data)
        return text


def short_string(raw: Raw) -> str | None:
    """A JSON string that may be kept, such as an id or a name.

    None for any other value, and for a string longer than `ID_MAX` characters.
    """
    size = len(raw)
    if size <= ID_MAX:  # a character takes at least one byte
        return string(raw) if size else None
    if size > _SHORT_BYTES:
        return None
    text = string(raw)
    return None if text is None or len(text) > ID_MAX else text


def error_message(raw: Raw) -> str | None:
    """The message of an agent's error.

    That is a string, the `message` of an object, or any other value as JSON.
    """
    if not raw:
        return None
    with contextlib.suppress(msgspec.DecodeError, RecursionError):  # nearly all errors
        return _decode_error(raw).message
    try:
        error: Any = parse(bytes(raw))
    except (ValueError, RecursionError):
        return None
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    if error is None or isinstance(error, str):
        return error
    return bytes(raw).decode()


def error_text(text: str | None, default: str) -> str:
    """An agent's error text, fit for a client: bounded, without control characters."""
    if not text:
        return default
    one_line = join_surrogates(" ".join(text[: 2 * ERROR_TEXT_MAX].split()))
    shown = "".join(c for c in one_line if unicodedata.category(c) != "Cc")[:ERROR_TEXT_MAX]
    return shown or default
