"""The harness can fail: bad streams, each seen by the model, by the clients, or by both."""

import json
import shutil
from collections.abc import Iterator
from typing import Final, NamedTuple

import pytest

from conformance import clients
from conformance.clients import CLIENTS, FOLDER, Job, NoClientsError, Reports, play, playing
from conformance.verdict import faults
from turnwire.testing.client_model import BrokenPromiseError, Chunk, read

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

OLD: Final = frozenset({"v5.0.0", "v6.0.0", "v7.0.0"})  # refuse what they do not know
ALL: Final = frozenset(CLIENTS)
NEW_ZOD: Final = ALL - {"v5.0.0", "v6.0.0"}  # theirs is 4.4 or later: a missing key is an error
LOOP: Final = "posts is 5, must be 1"

START: Final[list[Chunk]] = [{"type": "start", "messageId": "turn-1"}, {"type": "start-step"}]
END: Final[list[Chunk]] = [{"type": "finish-step"}, {"type": "finish"}]
OURS: Final = {"toolCallId": "c1", "providerExecuted": True}
THEIRS: Final = {"toolCallId": "c1"}
CALL: Final[Chunk] = {"type": "tool-input-available", "toolName": "calc", "input": {}}
OUTPUT: Final[Chunk] = {"type": "tool-output-available", "output": 4}


def text(block: str, *deltas: str) -> list[Chunk]:
    said: list[Chunk] = [{"type": "text-delta", "id": block, "delta": delta} for delta in deltas]
    return [{"type": "text-start", "id": block}, *said, {"type": "text-end", "id": block}]


def sse(*chunks: Chunk) -> str:
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


GOOD: Final = sse(*START, *text("t0", "hello"), *END)
TOOL_LAST: Final = sse(*START, {**CALL, **OURS}, {**OUTPUT, **OURS}, *END)
TOOL_TURN: Final = sse(
    *START, {**CALL, **OURS}, {**OUTPUT, **OURS}, *END[:1], *START[1:], *text("t0", "hello"), *END
)


class Bad(NamedTuple):
    """A bad stream, what the model says of it, and what becomes of the clients."""

    name: str
    stream: str
    model: str
    fail: frozenset[str] = frozenset()  # clients that end in an error
    fault: str | None = None  # what is seen in the others; None: it looks as if all were well
    meant: str = GOOD  # the good stream that should have been sent


STREAMS: Final = (
    Bad(
        "a field that old clients do not know",
        sse(*START, *text("t0", "hello"), END[0], {"type": "finish", "finishReason": "stop"}),
        model="unknown {'finishReason'}",
        fail=frozenset({"v5.0.0"}),
    ),
    Bad(
        "a field that nobody knows",
        sse(*START, {**text("t0")[0], "turnId": "x"}, *text("t0", "hello")[1:], *END),
        model="unknown {'turnId'}",
        fail=OLD,
    ),
    Bad(
        "null in an optional field",
        sse({"type": "start", "messageId": None}, *START[1:], *text("t0", "hello"), *END),
        model="start.messageId is None",
        fail=ALL,
    ),
    Bad(
        "a type that nobody knows",
        sse(*START, {"type": "ping"}, *text("t0", "hello"), *END),
        model="unknown type 'ping'",
        fail=ALL,
    ),
    Bad(
        "a key that must be there, even for null",
        sse(*START, {**CALL, **OURS}, {"type": "tool-output-available", **OURS}, *END),
        model="lacks {'output'}",
        fail=NEW_ZOD,
        fault="parts is",
        meant=TOOL_LAST,
    ),
    Bad(
        "a delta without a start",
        sse(*START, *text("t0", "hello")[1:], *END),
        model="t0, which is not open",
        fail=ALL,
    ),
    Bad(
        "a keepalive that is not a comment",
        "data: ping\n\n" + GOOD,
        model="Expecting value",
        fail=ALL,
    ),
    Bad(
        "an output of a tool never called",
        sse(*START, {**OUTPUT, **OURS}, *text("t0", "hello"), *END),
        model="never called",
        fail=ALL,
    ),
    Bad(
        "words after the error",
        sse(*START, *END[:1], {"type": "error", "errorText": "boom"}, *text("t0", "hello")),
        model="text-start ending",
        fail=ALL,
    ),
    Bad(
        "text left open",
        sse(*START, *text("t0", "hello")[:-1], *END),
        model="finish-step while ['t0'] are open",
        fault="parts left open",
    ),
    Bad(
        "a tool left open",
        sse(*START, {**CALL, **OURS}, *END),
        model="the tools ['c1'] have no outcome",
        fault="parts left open",
        meant=TOOL_LAST,
    ),
    Bad(
        "text that goes on after a tool in its old block",
        sse(*START, text("t0")[0], {**CALL, **OURS}, {**OUTPUT, **OURS},
            *text("t0", "hello")[1:], *END),
        model="tool-input-available while ['t0'] are open",
        fault="parts is",
        meant=TOOL_TURN,
    ),
    Bad(
        "a second start with another id",
        sse(*START, *text("t0", "hel"), {"type": "start", "messageId": "turn-2"},
            *text("t1", "lo"), *END),
        model="start step",
        fault="assistant messages is 2, must be 1",
    ),
    Bad(
        "a tool of ours without providerExecuted",
        # No step either: clients that look a call up by its id alone would stop at the second.
        sse(START[0], {**CALL, **THEIRS}, {**OUTPUT, **THEIRS}, *END[1:]),
        model="lacks {'providerExecuted'}",
        fault=LOOP,
        meant=TOOL_LAST,
    ),
    Bad(
        "a body that just ends",
        sse(*START, *text("t0", "hello")),
        model="no finish",
    ),
    Bad(
        "a stream without its mark at the end",
        GOOD.removesuffix("data: [DONE]\n\n"),
        model="no [DONE]",
    ),
    Bad(
        "a last record without its blank line",
        GOOD.removesuffix("\n"),
        model="not ended by a blank line",
    ),
)  # fmt: skip
HELD: Final[Job] = {"name": "held", "text": GOOD, "hold": True}


@pytest.fixture(scope="module")
def reports() -> Iterator[Reports]:
    jobs: list[Job] = [
        {"name": bad.name, "text": bad.stream, "autoSend": bad.fault == LOOP} for bad in STREAMS
    ]
    jobs += [
        {"name": "good", "text": GOOD},
        {"name": "tool turn", "text": TOOL_TURN, "autoSend": True},
        {**HELD, "limitMs": 500},
        {**HELD, "name": "stopped", "stopAfterMs": 100},
        {"name": "nobody there", "url": "http://127.0.0.1:9/chat"},
    ]
    with playing(jobs) as reports:
        yield reports


every_client = pytest.mark.parametrize("client", CLIENTS)
every_stream = pytest.mark.parametrize("bad", STREAMS, ids=lambda bad: bad.name)


@every_stream
def test_the_model_refuses_it_and_reads_what_was_meant(bad: Bad) -> None:
    with pytest.raises(BrokenPromiseError) as refused:
        read(bad.stream.encode())

    assert bad.model in str(refused.value)
    assert read(bad.meant.encode()).shown


@every_client
@every_stream
def test_what_the_clients_make_of_it(client: str, bad: Bad, reports: Reports) -> None:
    played = reports[client].result().job(bad.name)

    found = faults(client, read(bad.meant.encode()), played)
    if client in bad.fail:
        assert "status is 'error', must be 'ready'" in found
    elif bad.fault is None:
        assert found == []  # the user is none the wiser: only the model protects them
    else:
        assert any(bad.fault in fault for fault in found)


@every_client
def test_a_good_turn_has_no_faults_and_another_turn_has(client: str, reports: Reports) -> None:
    good = reports[client].result().job("good")
    tool = reports[client].result().job("tool turn")

    assert faults(client, read(GOOD.encode()), good) == []
    assert faults(client, read(TOOL_TURN.encode()), tool) == []
    assert faults(client, read(TOOL_TURN.encode()), good) != []


@every_client
def test_a_stream_that_never_ends_is_told_as_such(client: str, reports: Reports) -> None:
    held = reports[client].result().job("held")

    assert faults(client, read(GOOD.encode()), held)[0] == "timed out"


@every_client
def test_stop_leaves_what_was_shown(client: str, reports: Reports) -> None:
    played = reports[client].result().job("stopped")

    assert faults(client, read(GOOD.encode()), played) == []
    assert client == "v5.0.0" or [flags["isAbort"] for flags in played.finishes] == [True]


@every_client
def test_a_refused_connection_is_an_error(client: str, reports: Reports) -> None:
    played = reports[client].result().job("nobody there")

    assert (played.status, played.posts) == ("error", 1)


@every_client
def test_the_versions_that_run_are_the_ones_pinned(client: str, reports: Reports) -> None:
    pinned = json.loads((FOLDER / client / "package.json").read_text())["dependencies"]
    ran = reports[client].result().client

    assert f"v{ran['ai']}" == client
    assert {name: ran[name] for name in ("ai", "@ai-sdk/react", "zod")} == {
        name: pinned[name] for name in ("ai", "@ai-sdk/react", "zod")
    }


@every_client
def test_a_lock_names_no_registry_and_one_copy_of_what_is_tested(client: str) -> None:
    packages = json.loads((FOLDER / client / "package-lock.json").read_text())["packages"]

    assert [path for path, package in packages.items() if "resolved" in package] == []
    for name in ("ai", "zod", "react", "@ai-sdk/react"):
        assert [path for path in packages if path.endswith(f"node_modules/{name}")] == [
            f"node_modules/{name}"
        ]


def test_an_unknown_client_is_refused() -> None:
    with pytest.raises(NoClientsError, match="make node"):
        play("v1.0.0", [])


def test_a_missing_node_fails_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    with pytest.raises(NoClientsError, match="make node"):
        clients.node()


def test_an_answer_that_shows_nothing_needs_no_message() -> None:
    stream = sse({"type": "start"}, {"type": "error", "errorText": "no"}, {"type": "finish"})

    answer = read(stream.encode())
    assert answer.error == "no"
    assert not answer.shown
