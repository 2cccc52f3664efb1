"""Why a response is not whole."""

import pytest
from msgspec import Raw

from turnwire.dialects.openai_responses import reasons


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        (b'{"reason":"max_output_tokens"}', "length"),
        (b'{"reason":"max_tokens"}', "length"),
        (b'{"reason":"content_filter"}', "content-filter"),
        (b'{"reason":"new_reason"}', "other"),
        (b'{"reason":null}', None),
        (b'{"reason":7}', None),
        (b"null", None),
        (b"", None),
    ],
)
def test_a_reason_in_the_words_of_clients(details: bytes, reason: str | None) -> None:
    assert reasons.read(Raw(details)) == reason
