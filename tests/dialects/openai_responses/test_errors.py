"""What counts as an error, and its code."""

import pytest
from msgspec import Raw

from turnwire.dialects.openai_responses import errors


@pytest.mark.parametrize("raw", [b"", b"null", b'""', b"{}", b"[]", b"false"])
def test_an_empty_error_is_none(raw: bytes) -> None:
    assert not errors.is_error(Raw(raw))
    assert errors.is_error(Raw(b'"boom"'))


@pytest.mark.parametrize(
    ("error", "beside", "code"),
    [
        (b'{"code":"c","type":"t"}', b"", "c"),
        (b'{"code":null,"type":"t"}', b"", "t"),
        (b'{"code":"c"}', b'"beside"', "beside"),
        (b'{"code":500}', b"null", "500"),
        (b'{"code":"%b"}' % (b"x" * 600), b"", '"' + "x" * 63),
        (b'"boom"', b"", None),
        (b"", b"", None),
    ],
)
def test_the_code_of_an_error(error: bytes, beside: bytes, code: str | None) -> None:
    assert errors.code_of(Raw(error), Raw(beside)) == code
