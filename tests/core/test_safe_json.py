import pytest
from msgspec import Raw

from turnwire.core import safe_json

DEEP = b"[" * 5_000 + b'"__proto__"' + b"]" * 5_000


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        pytest.param(b'{"a": 1}', b'{"a": 1}', id="most values come back as they are"),
        pytest.param(b'{"__proto__":1}', b'{"_proto_":1}', id="__proto__"),
        pytest.param(rb'{"\u005f_proto__":1}', b'{"_proto_":1}', id="__proto__ behind an escape"),
        pytest.param(
            b'{"__proto__":1,"_proto_":2}', b'{"_proto__":1,"_proto_":2}', id="a name taken"
        ),
        pytest.param(
            b'{"constructor":{"prototype":1}}',
            b'{"_constructor_":{"prototype":1}}',
            id="constructor over prototype",
        ),
        pytest.param(
            rb'[{"c\u006fnstructor":{"pr\u006ftotype":1}}]',
            b'[{"_constructor_":{"prototype":1}}]',
            id="constructor behind escapes",
        ),
        pytest.param(b'{"constructor":"x"}', b'{"constructor":"x"}', id="a harmless constructor"),
        pytest.param(b'["__proto__"]', b'["__proto__"]', id="a value is no key"),
        pytest.param(b'{"a":\r\n1}', b'{"a":  1}', id="line breaks between tokens"),
        pytest.param(b'{"constructor":null}', b'{"_constructor_":null}', id="constructor null"),
        pytest.param(rb'["\\ud83d", 1]', rb'["\\ud83d", 1]', id="a backslash and letters"),
        pytest.param(rb'"\\\ud83d"', '"\\\\\ufffd"'.encode(), id="a backslash and a half"),
        pytest.param(
            rb'"\ud83d\\\ude00"', '"\ufffd\\\\\ufffd"'.encode(), id="a backslash between halves"
        ),
        pytest.param(rb'"a\ud83d"', '"a\ufffd"'.encode(), id="half of a pair"),
        pytest.param(rb'"\ud83d\ude00"', rb'"\ud83d\ude00"', id="a whole pair in escapes"),
        pytest.param(rb'"\ude00\u00e9"', '"\ufffdé"'.encode(), id="the other half"),
        pytest.param(
            rb'["\ude00",1e999,-1e999,1.5]',
            '["\ufffd",null,null,1.5]'.encode(),
            id="numbers without end",
        ),
        pytest.param(
            rb'["\ude00",' + b"9" * 999 + b"]",
            '["\ufffd",'.encode() + b"9" * 999 + b"]",
            id="a long number",
        ),
        pytest.param(
            rb'["\ude00",' + b"9" * 1_000 + b"]",
            '["\ufffd",null]'.encode(),
            id="a number too long for anybody",
        ),
        pytest.param(DEEP, safe_json.TOO_DEEP, id="nested too deeply to be looked into"),
    ],
)
@pytest.mark.attack(
    "prototype pollution: a key `__proto__` or `constructor`, also written with escapes",
    "the key is renamed before it reaches a browser",
)
def test_a_value_is_sanitized(raw: bytes, made: bytes) -> None:
    assert bytes(safe_json.sanitize(Raw(raw))) == made


@pytest.mark.parametrize(
    ("raw", "parsed"),
    [
        (b"[NaN,Infinity,-Infinity]", [None, None, None]),
        (rb'"\ud83d"', "\ud83d"),
        (b"[1,2.5,true]", [1, 2.5, True]),
    ],
)
def test_what_is_almost_json_is_read(raw: bytes, parsed: object) -> None:
    assert safe_json.parse(raw) == parsed


def test_what_is_no_json_is_not_read() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        safe_json.parse(b"{a}")


def test_what_is_very_long_is_not_read() -> None:
    with pytest.raises(ValueError, match="too much"):
        safe_json.parse(b'"%b"' % (b"x" * safe_json.LOOSE_MAX))


def test_what_was_read_is_written_on_one_line_without_halves() -> None:
    assert safe_json.dump({"é": ["\ud83d\n"]}) == '{"é":["\ufffd\\n"]}'.encode()


@pytest.mark.parametrize(
    ("text", "joined"),
    [("a", "a"), ("é", "é"), ("\ud83d\ude00", "\U0001f600"), ("\ude00\ud83d", "\ufffd\ufffd")],
)
def test_halves_are_joined_or_replaced(text: str, joined: str) -> None:
    assert safe_json.join_surrogates(text) == joined


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("", "")),
        ("a", ("a", "")),
        ("a\ud83d", ("a", "\ud83d")),
        ("a\ude00", ("a\ude00", "")),
        ("\U0001f600", ("\U0001f600", "")),
    ],
)
def test_only_a_high_half_at_the_end_waits(text: str, parts: tuple[str, str]) -> None:
    assert safe_json.split_half(text) == parts


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", None),
        (b"null", None),
        (b'"no"', "no"),
        (b'{"message":"no","code":1}', "no"),
        (rb'{"message":"n\ud800"}', "n\ud800"),
        (b'{"message":"no","cause":%b}' % DEEP, None),
        (b'{"message":7}', '{"message":7}'),
        (b"[1, 2]", "[1, 2]"),
        (DEEP, None),
    ],
)
def test_the_words_of_an_error(raw: bytes, words: str | None) -> None:
    assert safe_json.error_message(Raw(raw)) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, "default"),
        ("", "default"),
        ("\n\x1b\x07 ", "default"),
        ("a\n\tb  c\x1b[31m", "a b c[31m"),
        ("\ud83d", "\ufffd"),
        ("x" * 9_000, "x" * 2_000),
    ],
)
def test_an_error_text_is_short_and_plain(text: str | None, shown: str) -> None:
    assert safe_json.error_text(text, "default") == shown


@pytest.mark.parametrize(
    ("text", "json"),
    [
        pytest.param(' {"a": 1} ', b' {"a": 1} ', id="JSON comes back as it is"),
        pytest.param("rm -r", b'"rm -r"', id="a text that is no JSON"),
        pytest.param("", b'""', id="an empty text"),
        pytest.param('{"a"', rb'"{\"a\""', id="the beginning of JSON"),
        pytest.param('"a\nb"', rb'"\"a\nb\""', id="a line break in a string"),
        pytest.param("[NaN, 1e999]", b"[null,null]", id="numbers that are none"),
        pytest.param(r'"\ud83d"', '"\ufffd"'.encode(), id="half of a pair as an escape"),
        pytest.param('"\ud83d"', '"\ufffd"'.encode(), id="half of a pair"),
        pytest.param('"\ud83d\ude00"', '"\U0001f600"'.encode(), id="a pair"),
        pytest.param("[" * 5_000, b'"%b"' % (b"[" * 5_000), id="the beginning of deep JSON"),
        pytest.param(
            "[" * 5_000 + "]" * 5_000,
            b'"%b%b"' % (b"[" * 5_000, b"]" * 5_000),
            id="nested too deeply",
        ),
        pytest.param("[" + "NaN," * 20_000, b'"[%b"' % (b"NaN," * 20_000), id="too many values"),
    ],
)
def test_a_text_as_json(text: str, json: bytes) -> None:
    assert bytes(safe_json.from_text(text)) == json


def test_a_long_name_is_not_kept() -> None:
    assert safe_json.short_string(Raw(b'"%b"' % (b"x" * 512))) == "x" * 512
    assert safe_json.short_string(Raw(b'"%b"' % (b"x" * 513))) is None
    assert safe_json.short_string(Raw(b'"%b"' % (b"x" * 100_000))) is None
    assert safe_json.short_string(Raw(b"5")) is None
    assert safe_json.short_string(Raw(b"5" * 513)) is None


@pytest.mark.parametrize(
    ("frame", "types"),
    [
        (b'{ "type" : "init", "x": [', ["init"]),
        (b'{"x": 1, "type": "init"}', ["init"]),
        (b'{"x": "init", "type": "chunk"}', []),
        (b'{"x": NaN, "y": "init", "type": "question"}', ["init", "question"]),
        (b'{"x": NaN, "type": "questions"}', []),
        (rb'{"x": NaN, "type": "\u0069nit"}', ["init", "question"]),
    ],
)
def test_which_types_a_frame_may_have(frame: bytes, types: list[str]) -> None:
    assert safe_json.frame_types(frame, ("init", "question")) == types


def test_a_value_that_would_take_seconds_to_repair_is_replaced() -> None:
    large = Raw(b'["__proto__",{"__proto__":"' + b"x" * safe_json.LOOSE_MAX + b'"}]')

    assert bytes(safe_json.sanitize(large)) == safe_json.TOO_LONG


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'"a\\u00e9"', "a\u00e9"),
        (rb'"a\ud83d b"', "a\ud83d b"),
        (b"5", None),
        (b"null", None),
        (b"", None),
    ],
)
def test_a_string_is_read_with_the_halves_in_it(raw: bytes, text: str | None) -> None:
    assert safe_json.string(Raw(raw)) == text
