"""Patches of a JSON document, as RFC 6902 has them, and their bounds."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from turnwire.dialects.ag_ui.content.json_patch import (
    DEPTH_MAX,
    OPERATIONS_MAX,
    BadPatchError,
    apply,
)

ROOM = 10_000


def patched(document: Any, *operations: dict[str, Any], room: int = ROOM) -> Any:
    return apply(document, Raw(json.dumps(operations).encode()), room)


def op(kind: str, path: str, **fields: Any) -> dict[str, Any]:
    return {"op": kind, "path": path, **fields}


@pytest.mark.parametrize(
    ("document", "operation", "expected"),
    [
        ({"a": 1}, op("add", "/b", value=2), {"a": 1, "b": 2}),
        ({"a": 1}, op("add", "/a", value=None), {"a": None}),
        ({"a": [1, 3]}, op("add", "/a/1", value=2), {"a": [1, 2, 3]}),
        ({"a": [1]}, op("add", "/a/1", value=2), {"a": [1, 2]}),
        ({"a": []}, op("add", "/a/-", value=2), {"a": [2]}),
        ({"a": 1}, op("add", "", value=[7]), [7]),
        ({"a": 1}, op("replace", "/a", value=2), {"a": 2}),
        ([1, 2], op("replace", "/0", value=7), [7, 2]),
        (1, op("replace", "", value=2), 2),
        ({"a": 1, "b": 2}, op("remove", "/a"), {"b": 2}),
        ([1, 2], op("remove", "/0"), [2]),
        (1, op("remove", ""), None),
        ({"a": {"b": 1}}, op("move", "/c", **{"from": "/a/b"}), {"a": {}, "c": 1}),
        ({"a": 1}, op("move", "/a", **{"from": "/a"}), {"a": 1}),
        ({"a": [1]}, op("copy", "/b", **{"from": "/a"}), {"a": [1], "b": [1]}),
        (
            {"a": {"x": 1, "y": 2}},
            op("test", "/a", value={"y": 2, "x": 1}),
            {"a": {"x": 1, "y": 2}},
        ),
        ({"a/b": 1}, op("replace", "/a~1b", value=2), {"a/b": 2}),
        ({"a~1": 1}, op("replace", "/a~01", value=2), {"a~1": 2}),
        ({"": 1}, op("replace", "/", value=2), {"": 2}),
    ],
)
def test_a_document_is_changed(document: Any, operation: dict[str, Any], expected: Any) -> None:
    assert patched(document, operation) == expected


@pytest.mark.parametrize(
    ("document", "operation"),
    [
        ({}, op("replace", "/a", value=1)),
        ({}, op("remove", "/a")),
        ({}, op("add", "/a/b", value=1)),
        ({"a": 1}, op("add", "/a/b", value=1)),
        ({"a": 1}, op("remove", "/a/b")),
        ([], op("add", "/1", value=1)),
        ([], op("remove", "/0")),
        ([1], op("remove", "/1")),
        ([1], op("remove", "/00")),
        ([1], op("remove", "/-")),
        ([1], op("remove", "/x")),
        ([1], op("add", "/²", value=1)),
        ([1], op("add", "/" + "9" * 4_000, value=1)),
        ({}, op("add", "a", value=1)),
        ({}, op("add", "/a")),
        ({}, op("test", "")),
        ({"a": 1}, op("test", "/a", value=True)),
        ({"a": 1}, op("test", "/a", value=2)),
        ({"a": {}}, op("move", "/a/b", **{"from": "/a"})),
        ({}, op("copy", "/b", **{"from": "/a"})),
        ({}, op("merge", "/b")),
        ({}, op("add", "/a" * (DEPTH_MAX + 1), value=1)),
    ],
)
def test_what_does_not_fit_is_refused(document: Any, operation: dict[str, Any]) -> None:
    with pytest.raises(BadPatchError):
        patched(document, operation)


@pytest.mark.parametrize(
    "patch", [{}, [{"op": "add"}], [{"path": ""}], [op("remove", "/a")] * (OPERATIONS_MAX + 1)]
)
def test_what_is_no_patch_is_refused(patch: Any) -> None:
    with pytest.raises(msgspec.DecodeError):
        apply({}, Raw(json.dumps(patch).encode()), ROOM)


def test_copies_of_copies_end_at_the_bound() -> None:
    """Each doubles the document."""
    doubling = [
        op("copy", "/a/-", **{"from": "/a"}),
    ] * 100

    with pytest.raises(BadPatchError, match="large"):
        patched({"a": ["x" * 100]}, *doubling)


@pytest.mark.parametrize(
    "operations",
    [
        [op("add", "/a", value="x" * 100)] * 200,
        [op("test", "", value={"a": "x" * 100})] * 200,
    ],
)
def test_work_ends_at_the_bound(operations: list[dict[str, Any]]) -> None:
    with pytest.raises(BadPatchError, match="large"):
        patched({"a": "x" * 100}, *operations)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "~", "/"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "0", "~1", "/"]), inner, max_size=3)
    ),
    max_leaves=8,
)
PATHS = st.lists(st.sampled_from(["a", "b", "0", "1", "-", "~01", "~1"]), max_size=3).map(
    lambda names: "".join(f"/{name}" for name in names)
)
OPERATIONS = st.builds(
    lambda kind, path, source, value: {"op": kind, "path": path, "from": source, "value": value},
    st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]),
    PATHS,
    PATHS,
    JSON,
)


@given(document=JSON, operations=st.lists(OPERATIONS, max_size=4))
def test_any_patch_fits_or_is_refused(document: Any, operations: list[dict[str, Any]]) -> None:
    try:
        changed = patched(document, *operations)
    except BadPatchError:
        return

    assert json.loads(json.dumps(changed)) == changed
