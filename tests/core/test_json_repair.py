"""JSON with very many values is repaired in its text, to the same effect as value by value."""

import json
import math

import pytest
from hypothesis import given, strategies
from msgspec import Raw

from turnwire.core import json_repair, safe_json


def many(raw: bytes) -> bytes:
    """This value among more values than are decoded."""
    return b"[%b0,%b]" % (b"0," * (2 * safe_json.LOOSE_VALUES_MAX), raw)


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        (b'{"__proto__" : 1}', b'{"_proto_" : 1}'),
        (rb'{"\u005f_proto__":1}', b'{"_proto_":1}'),
        (rb'{"\u005F_proto__":1,"_proto_":2}', b'{"_proto__":1,"_proto_":2}'),
        (b'{"constructor":{"prototype":1}}', b'{"_constructor_":{"prototype":1}}'),
        (rb'{"c\u006Fnstructor":{"pr\u006fto\u0074ype":1}}', b'{"_constructor_":{"prototype":1}}'),
        (b'{"constructor":"x"}', b'{"constructor":"x"}'),
        (b'{"constructor":{"x":1}}', b'{"constructor":{"x":1}}'),
        (b'{"constructor":null}', b'{"_constructor_":null}'),
        (b'["__proto__","constructor"]', b'["__proto__","constructor"]'),
        (rb'"a \"__proto__\": b \\u0070"', rb'"a \"__proto__\": b \\u0070"'),
        (rb'{"a\"__proto__":1}', rb'{"a\"__proto__":1}'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (rb'"\ud83d\ud83d\ude00\ude00"', rb'"\ufffd\ud83d\ude00\ufffd"'),
        (rb'"\u0062\u0065"', rb'"\u0062e"'),
    ],
)
def test_a_text_with_many_values_is_repaired_in_place(raw: bytes, made: bytes) -> None:
    assert bytes(safe_json.sanitize(Raw(many(raw)))) == many(made)


@given(
    strategies.recursive(
        strategies.none()
        | strategies.booleans()
        | strategies.text(strategies.sampled_from('a_"\\\ud83d\ude00é,:{}[] NaN'), max_size=9)
        | strategies.just("__proto__")
        | strategies.integers(-9, 9)
        | strategies.just(math.nan)
        | strategies.just(-math.inf),
        lambda inner: (
            strategies.lists(inner, max_size=4)
            | strategies.dictionaries(
                strategies.sampled_from(
                    ["__proto__", "constructor", "prototype", "a", 'a"', "_proto_"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
    strategies.booleans(),
)
def test_both_ways_to_repair_give_the_same(value: object, is_ascii: bool) -> None:  # noqa: FBT001 (drawn)
    nearly = json.dumps(value, ensure_ascii=is_ascii).encode(errors="surrogatepass")
    try:
        nearly.decode()
    except UnicodeDecodeError:
        nearly = json.dumps(value).encode()

    as_it_stands = json.loads(json_repair.strict(nearly), object_pairs_hook=_renamed)

    assert as_it_stands == json.loads(
        safe_json.dump(safe_json.parse(nearly)), object_pairs_hook=_renamed
    )
    assert b"NaN" not in json_repair.strict(nearly) or "NaN" in json.dumps(as_it_stands)


def _renamed(pairs: list[tuple[str, object]]) -> object:
    """An object without the new names: the two ways choose different ones if a name is in use."""
    return [(key.strip("_").removesuffix("_"), value) for key, value in pairs]


def test_a_million_numbers_that_are_none_are_not_looked_at_one_by_one() -> None:
    with pytest.raises(ValueError, match="too many"):
        json_repair.strict(b"[" + b"NaN," * 500_000 + b"0]")


def test_a_number_that_is_none_is_a_text_within_a_string() -> None:
    raw = rb'["NaN","a\", NaN",NaN,-Infinity,"\\",Infinity,{"NaN":1}]'

    assert json_repair.strict(raw) == rb'["NaN","a\", NaN",null,null,"\\",null,{"NaN":1}]'


def test_a_nul_is_no_json() -> None:
    with pytest.raises(ValueError, match="NUL"):
        json_repair.strict(b'"\0"')


def test_names_that_are_all_taken_are_looked_at_once() -> None:
    names = b",".join(b'"_proto_%b":1' % (b"_" * more) for more in range(2_000))
    data = many(b'{"__proto__":1,%b}' % names)

    made = bytes(safe_json.sanitize(Raw(data)))

    assert b'{"_proto_%b":1,' % (b"_" * 2_000) in made
