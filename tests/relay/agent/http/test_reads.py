"""How much of a read is processed in one go."""

import pytest

from support import ag_ui_frames as f
from support.http_dialect import chunk
from turnwire.relay.agent.http.reads import is_quick, pieces

DELTA = chunk(b"data: %b\n\n" % f.text("hello"))
NOISE = chunk(b"data: %b\n\n" % f.event("RAW", event={"data": "x" * 10_000}))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (NOISE + DELTA, True),
        (NOISE * 3 + DELTA, True),
        (NOISE * 4, False),
        (DELTA * 15, True),
        (DELTA * 17, False),
        (b"\n" * 10_000, False),
    ],
)
def test_a_read_is_quick_if_it_has_few_lines(data: bytes, *, expected: bool) -> None:
    assert is_quick(data) is expected


@pytest.mark.parametrize(
    ("data", "sizes"),
    [
        (b"", []),
        (DELTA, [len(DELTA)]),
        (NOISE * 20, [65_536] * 3 + [len(NOISE) * 20 - 3 * 65_536]),
        (b"\n" * 40_000, [16_384, 16_384, 7_232]),
        (b"x" * 70_000 + b"\n" * 20_000, [65_536, 16_384, 90_000 - 65_536 - 16_384]),
    ],
)
def test_a_piece_has_fewer_bytes_if_it_has_many_lines(data: bytes, sizes: list[int]) -> None:
    found = list(pieces(data))

    assert list(map(len, found)) == sizes
    assert b"".join(found) == data
