"""Vue, Svelte, assistant-ui, the fetch of Expo: one transcript for each type of chunk."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from conformance import assistant
from conformance.assistant import Threads
from conformance.clients import FOLDER, FRAMEWORKS, Job, NoClientsError, Reports, play
from conformance.frameworks import EXPO, HANDFUL, PAIRS, playing_pairs, wrong
from conformance.transcripts import read_at_once, title
from turnwire.testing.client_model import read

# The first test waits for all clients' whole work.
pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

HELD_TEXT: Final = "".join(
    f"data: {json.dumps(chunk)}\n\n"
    for chunk in (
        {"type": "start", "messageId": "turn-1"},
        {"type": "start-step"},
        {"type": "text-start", "id": "t0"},
        {"type": "text-delta", "id": "t0", "delta": "hello"},
    )
)
STOPPED: Final[Job] = {
    "name": "stopped",
    "text": HELD_TEXT,
    "hold": True,
    "stopAfterMs": 50,
    "limitMs": 2_000,
}


@pytest.fixture(scope="module")
def reports() -> Iterator[Reports]:
    with playing_pairs(HANDFUL, STOPPED) as reports:
        yield reports


@pytest.fixture(scope="module")
def threads() -> Threads:
    return assistant.play([*map(read_at_once, HANDFUL)])


every_pair = pytest.mark.parametrize("name", PAIRS)
every_transcript = pytest.mark.parametrize("path", HANDFUL, ids=title)
every_framework = pytest.mark.parametrize("client", FRAMEWORKS)


@every_pair
def test_no_client_leaves_an_error_unhandled(name: str, reports: Reports) -> None:
    report = reports[name].result()

    assert report.unhandled == []
    assert not report.late


@every_pair
@every_transcript
def test_a_framework_and_a_fetch_change_nothing(name: str, path: Path, reports: Reports) -> None:
    assert wrong(name, reports[name].result(), path) == []


@every_transcript
def test_assistant_ui_holds_what_the_transcript_says(path: Path, threads: Threads) -> None:
    thread = threads.job(f"{title(path)} whole")

    assert assistant.faults(read(path.read_bytes()), thread) == []


def test_assistant_ui_leaves_no_error_unhandled(threads: Threads) -> None:
    assert threads.unhandled == []


@every_framework
def test_a_stop_is_seen_in_the_framework(client: str, reports: Reports) -> None:
    stopped = reports[client].result().job("stopped")

    assert (stopped.status, stopped.error, stopped.timed_out) == ("ready", None, False)
    assert [part.get("text") for part in stopped.answers[0].parts] == [None, "hello"]


@pytest.mark.parametrize("sdk", EXPO)
def test_a_stop_ends_a_stream_whose_body_knows_of_it_or_not(sdk: int, reports: Reports) -> None:
    stopped = reports[f"expo-{sdk}"].result().job("stopped")

    assert (stopped.status, stopped.error, stopped.timed_out) == ("ready", None, False)


def test_there_is_one_of_each_framework_for_each_major() -> None:
    majors = {
        (
            client.split("-")[0],
            json.loads((FOLDER / client / "package.json").read_text())["dependencies"]["ai"][0],
        )
        for client in FRAMEWORKS
    }

    assert majors == {(name, major) for name in ("svelte", "vue") for major in "567"}
    assert len(FRAMEWORKS) == len(majors)


@pytest.mark.parametrize("client", [*FRAMEWORKS, assistant.CLIENT])
def test_the_versions_that_run_are_the_ones_pinned(
    client: str, reports: Reports, threads: Threads
) -> None:
    pinned = json.loads((FOLDER / client / "package.json").read_text())["dependencies"]
    ran = (threads if client == assistant.CLIENT else reports[client].result()).client

    assert "ai" in ran
    assert {name: pinned.get(name, ran[name]) for name in ran} == ran


@pytest.mark.parametrize("client", [*FRAMEWORKS, assistant.CLIENT])
def test_a_lock_names_no_registry_and_one_copy_of_what_is_tested(client: str) -> None:
    packages = json.loads((FOLDER / client / "package-lock.json").read_text())["packages"]

    assert [path for path, package in packages.items() if "resolved" in package] == []
    for name in packages[""]["dependencies"]:
        assert [path for path in packages if path.endswith(f"node_modules/{name}")] == [
            f"node_modules/{name}"
        ]


def test_a_client_that_is_not_installed_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(assistant, "FOLDER", tmp_path)

    with pytest.raises(NoClientsError, match="make node"):
        assistant.play([])
    with pytest.raises(NoClientsError, match="make node"):
        play("vue-1.0.0", [])
