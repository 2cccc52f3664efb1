"""A part of an odd shape does not hide the parts beside it."""

import msgspec
import pytest
from msgspec import Raw

from turnwire.core.events import Reason
from turnwire.core.wire import lenient

number = msgspec.json.Decoder(int).decode


def test_an_element_that_cannot_be_decoded_is_left_out() -> None:
    elements = map(Raw, (b"1", b'"2"', b"", b"3"))

    assert list(lenient.each(number, elements)) == [1, 3]


def test_what_is_left_out_can_be_counted() -> None:
    left_out: list[bytes] = []

    found = lenient.each(number, map(Raw, (b"1", b"[]")), lambda raw: left_out.append(bytes(raw)))

    assert (list(found), left_out) == ([1], [b"[]"])


@pytest.mark.parametrize(
    ("raw", "value"), [(b"7", 7), (b"0", 0), (b"", None), (b"null", None), (b"[7]", None)]
)
def test_a_field_that_cannot_be_decoded_counts_as_absent(raw: bytes, value: int | None) -> None:
    assert lenient.field(number, Raw(raw)) == value


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'"canceled"', Reason.CANCELED),
        (b'"error"', Reason.ERROR),
        (b'"bored"', Reason.END_TURN),
        (b"7", Reason.END_TURN),
        (b"", Reason.END_TURN),
    ],
)
def test_an_unknown_reason_is_an_end(raw: bytes, reason: Reason) -> None:
    assert lenient.finish_reason(Raw(raw)) is reason
