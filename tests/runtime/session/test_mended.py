import pytest

from turnwire_agent.session.events import Attachment, Prompted
from turnwire_agent.session.mended import mended


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\ud83d", "a\ufffd"),
        ("\ude00\U0001f600", "\ufffd\U0001f600"),
        (("\ud83d", 1, None), ("\ufffd", 1, None)),
        (b"\xff", b"\xff"),
        ([{"\ud83d": ["\ud83d"]}], [{"\ufffd": ["\ufffd"]}]),
        (
            Prompted(entry_id="e", content="\ud83d", attachments=(Attachment("a/b", "\ud83d"),)),
            Prompted(entry_id="e", content="\ufffd", attachments=(Attachment("a/b", "\ufffd"),)),
        ),
    ],
)
def test_halves_of_characters_are_replaced_at_any_depth(value: object, expected: object) -> None:
    assert mended(value) == expected
