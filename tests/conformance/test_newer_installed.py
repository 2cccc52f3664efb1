"""The whole command, with a release that npm installs: an old one, whose turns end no otherwise."""

import pytest

from conformance import newer
from conformance.transcripts import TRANSCRIPTS

pytestmark = [pytest.mark.node, pytest.mark.sockets, pytest.mark.timeout(400)]


def test_a_release_is_installed_and_ends_all_turns_as_the_pinned_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = newer.main("7.0.0")

    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("ai 7.0.0 with @ai-sdk/react 4.0.0, beside v7.")
    assert rest[0] == f"Transcripts: {len(TRANSCRIPTS)} of {len(TRANSCRIPTS)} end the same"
    assert failed == 0
