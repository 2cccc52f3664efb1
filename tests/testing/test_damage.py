import json
from random import Random
from typing import Final

import msgspec

from support.seeds import each_seed
from turnwire.testing.damage import GARBAGE, damaged, disorder

FRAMES: Final = [json.dumps({"type": "say", "text": f"text {n}"}).encode() for n in range(5)]


@each_seed(300)
def test_frames_stay_valid_utf_8(*, seed: int) -> None:
    """A transport refuses others, so no dialect ever gets one."""
    for frame in disorder(["é\u2028".encode(), *FRAMES], FRAMES, Random(seed)):  # noqa: S311
        frame.decode()


def test_each_kind_of_change_happens() -> None:
    lots = [disorder(FRAMES, [b"other"], Random(seed)) for seed in range(200)]  # noqa: S311

    assert any(len(lot) < len(FRAMES) for lot in lots)
    assert any(len(set(lot)) < len(lot) for lot in lots)
    assert any(b"other" in lot for lot in lots)
    assert any(set(lot) & set(GARBAGE) for lot in lots)
    assert any(sorted(lot) == FRAMES != lot for lot in lots)
    assert [] not in (disorder(FRAMES, FRAMES, Random(seed)) for seed in range(9))  # noqa: S311


def test_a_damaged_frame_is_json_with_another_value_or_one_less() -> None:
    found = {damaged(FRAMES[0], Random(seed)) for seed in range(100)}  # noqa: S311

    assert FRAMES[0] not in found
    assert {len(msgspec.json.decode(frame)) for frame in found} == {1, 2}


def test_what_is_no_json_or_has_no_values_is_damaged_too() -> None:
    dice = Random(1)  # noqa: S311 (any numbers)

    assert damaged(b"[DONE]", dice) == b"[DO"
    assert damaged(b"7", dice) == b"null"
    assert damaged(b"[" * 5_000, dice) == b"[" * 2_500
