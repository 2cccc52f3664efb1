"""What would be built of a long frame is counted before it is built."""

import json
from collections import deque
from itertools import islice
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from turnwire.core.bounds import DEPTH_MAX, SKIPPED_MAX
from turnwire.core.wire import census as module
from turnwire.core.wire.census import STEP_BYTES, TooManyError, census

TEXT = st.text(st.sampled_from('a"\\{}[],:é\n'), max_size=40)
JSON = st.recursive(
    st.none() | TEXT | st.integers(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=60,
)


def counted(said: Any, depth: int, level: int = 0) -> int:
    """Its commas and brackets down to there: each value but the first of a holder has a comma."""
    if not isinstance(said, list | dict):
        return 0
    inner = list(said.values()) if isinstance(said, dict) else said
    own = (level < depth) + (max(0, len(inner) - 1) if level + 1 <= depth else 0)
    return own + sum(counted(each, depth, level + 1) for each in inner)


def steps(frame: bytes, depth: int, most: int) -> int:
    return sum(1 for _ in census(frame, depth, most))


@settings(deadline=None)
@given(JSON, st.integers(1, 6), st.integers(1, 64), st.booleans())
@example(['\\"[,'], 2, 5, True)  # noqa: FBT003 (a step ends after three backslashes)
def test_values_are_counted_down_to_a_depth_wherever_a_step_ends(
    said: Any,
    depth: int,
    step: int,
    is_ascii: bool,  # noqa: FBT001 (drawn)
) -> None:
    frame = json.dumps(said, ensure_ascii=is_ascii).encode()
    there = counted(said, depth)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STEP_BYTES", step)
        steps(frame, depth, there)
        if there:
            with pytest.raises(TooManyError):
                steps(frame, depth, there - 1)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b"[" + b"{}," * 1_000_000 + b"{}]", id="objects"),
        pytest.param(b"[" + b"1," * 1_000_000 + b"1]", id="numbers"),
        pytest.param(b"[" + b'"",' * 1_000_000 + b'""]', id="strings"),
        pytest.param(b"[" * 1_000_000, id="depth"),
        pytest.param(b'{"a":' * 1_000_000, id="depth of objects"),
    ],
)
def test_a_frame_of_very_many_values_is_refused_long_before_its_end(frame: bytes) -> None:
    looked = census(frame, 5, 10_000)

    with pytest.raises(TooManyError):
        deque(islice(looked, len(frame) // STEP_BYTES // 4), maxlen=0)


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b'["' + b"[{,}]" * 100_000 + b'"]', id="a text of brackets"),
        pytest.param(b'["' + rb"\"," * 100_000 + b'"]', id="escaped quotation marks"),
        pytest.param(b'["' + b"\\\\" * 100_000 + b'"]', id="escaped backslashes"),
        pytest.param(
            b'{"a":{"b":{"c":[' + b"1," * 100_000 + b"1]}}}", id="a long result, deep down"
        ),
        pytest.param(b"[" * DEPTH_MAX, id="as deep as may be"),
    ],
)
def test_what_is_carried_along_unread_is_not_counted(frame: bytes) -> None:
    assert steps(frame, 3, 10) >= 1


def test_what_is_carried_along_has_a_bound_of_its_own() -> None:
    deep = b'{"a":{"b":{"c":[%b1]}}}'

    with pytest.raises(TooManyError):
        steps(deep % (b"1," * (SKIPPED_MAX + 1)), 3, 10)
    assert steps(deep % (b"1," * SKIPPED_MAX), 3, 10) >= 1
