"""Halves of surrogate pairs are found in JSON, whatever stands around them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwire.core.body import lone_surrogates
from turnwire.core.body.lone_surrogates import find_in_steps, replace_in_steps
from turnwire.core.steps import run_steps

LOW, HIGH = rb"\ude00", rb"\ud83d"
PIECES = st.sampled_from(
    [LOW, HIGH, rb"\uDE00", rb"\uD83D", rb"\\", rb"\"", rb"\n", rb"\u00e9", b"u", b"ud83d", b"x"]
)


def repaired(data: bytes) -> bytes:
    return run_steps(replace_in_steps(data, run_steps(find_in_steps(data)), rb"\ufffd"))


@pytest.mark.parametrize(
    ("data", "lone"),
    [
        (b"", []),
        (rb"\ud83d", [0]),
        (rb"\uDE00", [0]),
        (rb"\ud83d\ude00", []),
        (rb"\uD83D\uDE00", []),
        (rb"\ude00\ud83d", [0, 6]),
        (rb"\ud83d\ud83d\ude00", [0]),
        (rb"\ud83d\ude00\ude00", [12]),
        (rb"\\ud83d", []),
        (rb"\\\ud83d", [2]),
        (rb"\u00e9\ud83d", [6]),
        (rb"\ud83dx\ude00", [0, 7]),
        (b"\\" * 1_001 + b"ud83d", [1_000]),
        (b"\\" * 1_000 + b"ud83d", []),
    ],
)
def test_halves_are_found(data: bytes, lone: list[int]) -> None:
    assert list(run_steps(find_in_steps(data))) == lone


@settings(max_examples=300, deadline=None, database=None)
@given(st.lists(PIECES, max_size=12), st.integers(1, 9))
def test_what_is_repaired_is_what_a_decoder_makes_of_it(pieces: list[bytes], step: int) -> None:
    """Steps of a few bytes cut the escapes everywhere."""
    data = b'"%b"' % b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lone_surrogates, "_STEP_BYTES", step)
        mended = repaired(data)

    loose = json.loads(data).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert json.loads(mended) == loose
    assert len(mended) == len(data)


def test_very_many_halves_are_replaced_in_steps() -> None:
    data = HIGH * 100_000
    steps = find_in_steps(data)

    assert sum(1 for _ in steps) > 100
    assert repaired(data) == rb"\ufffd" * 100_000
