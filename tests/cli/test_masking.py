"""A report does not show the token, and ordinary words stay."""

import pytest

from turnwire.cli.masking import LONG, masked


@pytest.mark.parametrize(
    ("text", "token", "shown"),
    [
        ("302 to /secret12?x=secret12", "secret12", "302 to /[token]?x=[token]"),
        ("externals of external", "external", "externals of [token]"),
        (f"a{'x' * LONG}b", "x" * LONG, "a[token]b"),
        (f"a{'x' * (LONG - 1)}b", "x" * (LONG - 1), f"a{'x' * (LONG - 1)}b"),
        ("the end", "the", "the end"),
        ("a.b.c.d.e aXbXcXdXe", "a.b.c.d.e", "[token] aXbXcXdXe"),
    ],
)
def test_a_token_is_masked_and_no_ordinary_word(text: str, token: str, shown: str) -> None:
    assert masked(text, token) == shown
