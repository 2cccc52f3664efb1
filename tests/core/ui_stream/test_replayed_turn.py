"""What a client that continues a turn lacks of its replay, and when that is sent."""

import pytest
from msgspec import UNSET, Raw, UnsetType

from turnwire.core.body.client_copy import ClientCopy, PartKind
from turnwire.core.bounds import DATA_PARTS_MAX, WAITING_BYTES_MAX
from turnwire.core.ui_stream import chunks
from turnwire.core.ui_stream.replayed_turn import ReplayedTurn

COPY = ClientCopy(
    message_id="m1", text_chars=3, pending=frozenset({"c1", "c2"}), without_input=frozenset({"c2"})
)
OUTPUT = chunks.ToolOutputAvailable("c1", Raw(b"1"))
ERROR = chunks.ToolOutputError("c2", "no")
INPUT = chunks.ToolInputAvailable("c2", "bash", Raw(b"{}"))


def test_what_is_open_at_the_client_is_sent_late_inputs_first() -> None:
    replay = ReplayedTurn(COPY)

    replay.keep_late([OUTPUT, ERROR, INPUT])

    assert replay.begin_sending() == [chunks.Start("m1"), INPUT, OUTPUT, ERROR]


@pytest.mark.parametrize(
    "chunk",
    [
        chunks.TextDelta("t0", "x"),
        chunks.ToolInputAvailable("c1", "bash", Raw(b"{}")),
        chunks.ToolOutputAvailable("c3", Raw(b"1")),
        chunks.ToolOutputPreliminary("c1", Raw(b"1")),
        chunks.ToolInputDelta("c2", "{"),
        chunks.DataPart("data-s", Raw(b"1")),
        chunks.DataPart("data-s", Raw(b"1"), "d", transient=True),
        chunks.Finish(),
    ],
)
def test_what_the_client_has_is_not_sent_again(chunk: chunks.Chunk) -> None:
    replay = ReplayedTurn(COPY)

    replay.keep_late([chunk])

    assert replay.begin_sending() == [chunks.Start("m1")]


def test_the_latest_outcome_counts() -> None:
    replay = ReplayedTurn(COPY)

    replay.keep_late([chunks.ToolOutputAvailable("c1", Raw(b"0"))])
    replay.keep_late([OUTPUT])

    assert replay.begin_sending() == [chunks.Start("m1"), OUTPUT]


def data(number: int, size: int = 1) -> chunks.DataPart:
    return chunks.DataPart("data-s", Raw(b"1" * size), f"d{number}")


def test_parts_with_an_id_are_sent_again_after_outcomes_each_in_its_last_state() -> None:
    replay = ReplayedTurn(COPY)

    replay.keep_late([data(1, 5), data(2), data(1, 7), OUTPUT])

    assert replay.begin_sending() == [chunks.Start("m1"), OUTPUT, data(2), data(1, 7)]


def test_only_so_many_parts_and_bytes_of_them_wait() -> None:
    replay = ReplayedTurn(ClientCopy())
    replay.keep_late([data(number) for number in range(DATA_PARTS_MAX + 1)])
    assert len(replay.begin_sending()) == 1 + DATA_PARTS_MAX

    replay = ReplayedTurn(ClientCopy())
    replay.keep_late([data(1, WAITING_BYTES_MAX), data(2), data(1, WAITING_BYTES_MAX - 1), data(2)])
    replay.keep_late([data(3), data(2, 2)])
    assert replay.begin_sending()[1:] == [data(1, WAITING_BYTES_MAX - 1)]


@pytest.mark.parametrize(("given", "sent"), [(None, UNSET), ("a\ud83d", "a\ufffd")])
def test_the_message_goes_on_under_the_clients_id(given: str | None, sent: str | UnsetType) -> None:
    (start,) = ReplayedTurn(ClientCopy(message_id=given)).begin_sending()

    assert isinstance(start, chunks.Start)
    assert start.message_id == sent


def test_it_is_silent_until_parts_may_be_missing_and_skips_to_its_end() -> None:
    replay = ReplayedTurn(COPY)
    assert replay.is_silent
    assert replay.take(PartKind.TEXT, 2) == 2

    replay.begin_sending()

    assert not replay.is_silent
    assert replay.take(PartKind.TEXT, 2) == 1
    assert replay.take(PartKind.TEXT, 2) == 0
