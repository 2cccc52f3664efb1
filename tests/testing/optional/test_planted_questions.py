"""The suite finds each fault of a dialect that asks, or that shares its wire."""

from typing import Any, Final
from unittest import SkipTest

import pytest

from testing import asking_dialects as a
from testing.asking_faults import FAULTS
from testing.minimal_suite import MinimalSuite
from turnwire.testing import Exchange, Script, failures
from turnwire.testing.exchanges import EXCHANGES
from turnwire.testing.optional.native_approvals import NativeApprovals
from turnwire.testing.optional.questions import Questions
from turnwire.testing.optional.side_by_side import SideBySide
from turnwire.testing.reading_again import ReadingAgain
from turnwire.testing.redaction import Redaction


def found(dialect: Any, *names: str) -> dict[str, str]:
    """Return which of these tests fail, or of all, and why."""
    return {name: f"{exc!r}" for name, exc in failures(a.AskingSuite(dialect), names or None)}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_its_test(fault: str) -> None:
    dialect, test, why = FAULTS[fault]

    assert why in found(dialect, test)[test]


@pytest.mark.parametrize("operation", [None, a.Answering])
def test_a_sound_dialect_has_none(operation: Any) -> None:
    assert found(a.asking(a.Asking, operation)) == {}


OPTIONAL: Final = [
    *(
        (room, name)
        for room in (Questions, NativeApprovals, SideBySide)
        for name in vars(room)
        if name.startswith("test_")
    ),
    (ReadingAgain, "test_an_answered_turn_is_read_again"),
    (Redaction, "test_a_recording_hides_the_answer"),
]


@pytest.mark.parametrize(("room", "name"), OPTIONAL)
def test_without_frames_a_test_is_skipped_and_says_why(room: Any, name: str) -> None:
    with pytest.raises(SkipTest, match=r"exchange|shared_frames"):
        getattr(room, name)(MinimalSuite())
    assert list(failures(MinimalSuite(), {name})) == []


def test_an_author_who_forgets_the_question_is_told() -> None:
    class Silent(a.AskingSuite):
        def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
            del prompt_id
            return Exchange(asks=[], goes_on=[a.frame("say", text=script.text), a.frame("done")])

    wanted = {name for _, name in OPTIONAL if name in vars(Questions)}
    whys = dict(failures(Silent(a.asking(a.Asking)), wanted))

    assert {f"{why}" for why in whys.values()} == {"the client sees no open question"}
    assert whys.keys() == wanted


def test_the_turns_that_ask_tell_their_texts_on_both_sides_of_the_question() -> None:
    assert all(len(script.texts) > 1 for script in EXCHANGES.values())
