"""A release that is not pinned is tried beside the pinned one, and each difference is named."""

from pathlib import Path
from typing import Final

import msgspec
import pytest

from conformance import newer
from conformance.clients import CLIENTS, FOLDER, Report, play
from conformance.frameworks import HANDFUL
from conformance.live import CONVERSATIONS
from conformance.newer import compare, pinned_beside, summary, transcripts_otherwise
from conformance.transcripts import TRANSCRIPTS, read_at_once

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(180)]

OLD: Final = str(FOLDER / "v7.0.0")
"""By its path, as a release in a temporary folder is played."""
STREAMS: Final = [read_at_once(path) for path in HANDFUL]


def test_an_old_release_ends_all_turns_as_the_pinned_one() -> None:
    transcripts, conversations, report = compare(OLD, pinned_beside("7.0.0"), STREAMS)

    assert report.client["ai"] == "7.0.0"
    assert len(report.jobs) == len(STREAMS)
    assert (transcripts, conversations) == ({}, {})


def test_what_ends_otherwise_is_named() -> None:
    pinned = play(CLIENTS[-1], STREAMS[:2])
    first, second = pinned.jobs
    broken = msgspec.structs.replace(first, status="error", error="no", messages=[])
    tried: Report = msgspec.structs.replace(pinned, jobs=[broken, second])

    found = transcripts_otherwise(tried, pinned, CLIENTS[-1])

    assert [*found] == [first.name]
    assert "error: 'no', not None" in found[first.name]
    assert any(how.startswith("messages: []") for how in found[first.name])
    report = summary("Transcripts", 2, found)
    assert report.startswith(f"Transcripts: 1 of 2 end the same\n  {first.name}\n    status: ")


def test_a_release_is_tried_beside_the_newest_of_its_major() -> None:
    assert pinned_beside("6.0.999") == max(c for c in CLIENTS if c.startswith("v6."))
    assert pinned_beside("9.0.0") == CLIENTS[-1]


@pytest.mark.parametrize("release", ["latest", "7.0", "7.0.1; ls", "../v7.0.0"])
def test_a_name_that_is_no_release_is_refused(
    release: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert newer.main(release) == 2
    assert "is no release of ai" in capsys.readouterr().err


def test_what_npm_cannot_install_is_an_error_and_no_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (npm := tmp_path / "npm").write_text("#!/bin/sh\necho 'no such release' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert newer.main("7.0.999") == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "npm view: no such release\n")


def test_the_report_says_what_was_tried_and_what_differs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = {"ai": "7.0.200", newer.REACT: "4.0.200"}
    tried = Report(client=ran, unhandled=[], late=False, jobs=[])
    monkeypatch.setattr(newer, "install", lambda *_: Path(OLD))
    monkeypatch.setattr(newer, "compare", lambda *_: ({}, {"refused": ["posts: 2, not 1"]}, tried))

    assert newer.main("7.0.200") == 1
    assert capsys.readouterr().out == (
        f"ai 7.0.200 with @ai-sdk/react 4.0.200, beside {pinned_beside('7.0.200')}\n"
        f"Transcripts: {len(TRANSCRIPTS)} of {len(TRANSCRIPTS)} end the same\n"
        f"Conversations: {len(CONVERSATIONS) - 1} of {len(CONVERSATIONS)} end the same\n"
        "  refused\n    posts: 2, not 1\n"
    )
