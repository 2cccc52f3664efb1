"""Text is UTF-8 or not, whether it is checked at once or in steps."""

import pytest

from turnwire.relay.agent.utf8 import check_utf8, is_utf8


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        (b"", True),
        ("é".encode() * 50_000, True),
        (b"x" + "é".encode() * 50_000, True),  # a step ends within a character
        (b"\xc3\x28", False),
        (b"x" * 100_000 + b"\xc3", False),
    ],
)
def test_text_is_checked_at_once_or_in_steps(text: bytes, *, is_valid: bool) -> None:
    assert is_utf8(text) is is_valid
    if is_valid:
        assert len(list(check_utf8(text))) == -(-len(text) // 65_536)
    else:
        with pytest.raises(UnicodeDecodeError):
            list(check_utf8(text))
