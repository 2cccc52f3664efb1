"""Fields that may hold anything: which paths are hidden in which frames, and what stays in them."""

import pytest

from turnwire.core.recording.hidden_fields import HiddenFields, Paths
from turnwire.core.recording.redact import Redactor

HIDDEN = frozenset({"STATE.snapshot", "*.copy", "PATCH.patch", "EVENT.outcome.metadata"})
READ = frozenset({"STATE.snapshot.calls.id", "STATE.snapshot.calls.args", "STATE.snapshot.event"})
OPERATIONS = frozenset({"PATCH.patch.op", "PATCH.patch.path", "PATCH.patch.value"})


def fields() -> HiddenFields:
    return HiddenFields(HIDDEN, READ)


def test_the_paths_of_a_type() -> None:
    assert fields().of(b'{"type":"STATE","snapshot":1}') == Paths(
        frozenset({"snapshot", "copy"}),
        frozenset({"snapshot.calls.id", "snapshot.calls.args", "snapshot.event"}),
        frozenset({"snapshot", "snapshot.calls"}),
    )


@pytest.mark.parametrize("frame", [b'{"type":"TEXT"}', b'{"type":null}', b"{}"])
def test_a_type_of_which_nothing_is_hidden_has_what_is_hidden_in_any(frame: bytes) -> None:
    assert fields().of(frame) == Paths(frozenset({"copy"}), frozenset(), frozenset())


@pytest.mark.parametrize("frame", [b'{"type":7}', b"[]", b'{"type":"STA', b"\xff", b"[" * 5_000])
def test_a_frame_whose_type_cannot_be_read_has_all(frame: bytes) -> None:
    assert fields().of(frame).hidden == {"snapshot", "copy", "patch", "outcome.metadata"}


@pytest.mark.parametrize(
    ("frame", "redacted"),
    [
        (
            '{"type":"STATE","snapshot":{"name":"ann","ann":{"role":"boss","n":12}}}',
            '{"type":"STATE","snapshot":{"xxxx":"xxx","xxx":{"xxxx":"xxxx","x":11}}}',
        ),
        ('{"type":"STATE","snapshot":"ann","name":"word"}', None),
        (
            '{"type":"STATE","snapshot":{"calls":[{"id":"c1","name":"ann","args":{"id":"a"}}]}}',
            '{"type":"STATE","snapshot":{"calls":[{"id":"c1","xxxx":"xxx","args":{"xx":"x"}}]}}',
        ),
        (
            '{"type":"STATE","snapshot":{"calls":[{"id":""},{"id":"ann a"}],"event":"on_end"}}',
            '{"type":"STATE","snapshot":{"calls":[{"id":""},{"id":"n1xxx"}],"event":"on_end"}}',
        ),
        ('{"type":"STATE","snapshot":{"event":"two words","calls":"ann"}}', None),
        ('{"type":"TEXT","copy":{"name":"ann"},"name":"word"}', None),
        ('{"type":"TEXT","copy":["/ann"],"snapshot":{"name":"word"}}', None),
        (
            '{"type":"PATCH","patch":[{"op":"add","path":"/ann","value":{"name":"ann"}}]}',
            '{"type":"PATCH","patch":[{"op":"add","path":"/xxx","value":{"xxxx":"xxx"}}]}',
        ),
        (
            '{"type":"PATCH","patch":[{"op":"add","path":"/a/12/-/12345/1x/0","from":"/b"}]}',
            '{"type":"PATCH","patch":[{"op":"add","path":"/x/12/-/xxxxx/xx/0","xxxx":"/x"}]}',
        ),
        ('{"type":"EVENT","outcome":{"name":"word","metadata":{"name":"ann"}},"name":"w"}', None),
        ('{"type":"STATE","snapshot":{"__proto__":"ann"}}', None),
        ('{"snapshot":{"name":"ann"},"type":7}', None),
    ],
)
def test_what_is_left_of_a_frame(frame: str, redacted: str | None) -> None:
    redactor = Redactor(kept=("name", "op", "event"), hidden=HIDDEN, read=READ | OPERATIONS)

    made = redactor.frame(frame.encode()).decode()

    assert made == (LEFT[frame] if redacted is None else redacted)


LEFT = {
    '{"type":"STATE","snapshot":"ann","name":"word"}': (
        '{"type":"STATE","snapshot":"xxx","name":"word"}'
    ),
    '{"type":"STATE","snapshot":{"event":"two words","calls":"ann"}}': (
        '{"type":"STATE","snapshot":{"event":"xxx xxxxx","calls":"xxx"}}'
    ),
    '{"type":"TEXT","copy":{"name":"ann"},"name":"word"}': (
        '{"type":"TEXT","copy":{"xxxx":"xxx"},"name":"word"}'
    ),
    '{"type":"TEXT","copy":["/ann"],"snapshot":{"name":"word"}}': (
        '{"type":"TEXT","copy":["/xxx"],"snapshot":{"name":"word"}}'
    ),
    '{"type":"EVENT","outcome":{"name":"word","metadata":{"name":"ann"}},"name":"w"}': (
        '{"type":"EVENT","outcome":{"name":"word","metadata":{"xxxx":"xxx"}},"name":"w"}'
    ),
    '{"type":"STATE","snapshot":{"__proto__":"ann"}}': (
        '{"type":"STATE","snapshot":{"__proto__":"xxx"}}'
    ),
    '{"snapshot":{"name":"ann"},"type":7}': '{"snapshot":{"xxxx":"xxx"},"type":7}',
}
