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

import json
import re
import unicodedata
from typing import Any

from msgspec import Raw

_SUSPECT = re.compile(rb'[\r\n]|__proto__|"constructor"|\\u(?:00[4-7]|[dD][89a-fA-F])')
r"""What may need work.

`\u00[4-7]` escapes an ASCII letter or `_`, and so may hide a key; `\ud8` to
`\udf` escape one half of a surrogate pair, whose other half may be missing.
"""

_RENAMED = {"__proto__": "_proto_", "constructor": "_constructor_"}

ERROR_TEXT_MAX = 2_000
"""Longest error text of an agent that is shown to a client, in characters."""

_DIGITS_MAX = 1_000

TOO_DEEP = b'"(nested too deeply)"'


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
    return isinstance(value, dict) and "prototype" in value


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if abs(number) != float("inf") else None


def _whole(digits: str) -> float | None:
    # Python refuses to read longer integers; a client rounds them anyway.
    return int(digits) if len(digits) < _DIGITS_MAX else _finite(digits)


_lenient = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=lambda _: None,
    parse_float=_finite,
    parse_int=_whole,
).decode


def parse(data: bytes) -> Any:
    """Parse JSON leniently: NaN, infinities and halves of surrogate pairs are let in.

    Raises:
        ValueError: it is no JSON even so.
        RecursionError: it is nested too deeply.

    """
    return _lenient(data.decode(errors="replace"))


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
    if _SUSPECT.search(data) is None:
        return raw
    try:
        return Raw(dump(parse(data)))
    except RecursionError:
        return Raw(TOO_DEEP)


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


def words(raw: Raw) -> str | None:
    """An agent's error: a string, an object with a message, or anything else as its JSON."""
    try:
        said: Any = parse(bytes(raw)) if raw else None
    except RecursionError:
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
