"""The suite finds each fault of a dialect, by the test that is about it."""

from typing import Any, Final

import pytest

import turnwire.dialect as td
from testing import asking_faults, reconnecting_dialects
from testing import faulty_dialects as f
from testing.minimal_suite import MinimalSuite
from turnwire.testing import failures
from turnwire.testing.suite import suite_tests

FAULTS: Final[dict[str, tuple[Any, str, str]]] = {
    "raises at what is no JSON": (
        f.faulty(f.Raises),
        "test_garbage_changes_nothing",
        "DecodeError",
    ),
    "raises at a result without its call": (
        f.faulty(f.RaisesOnDisorder),
        "test_any_order_keeps_the_promises",
        "c1",
    ),
    "loses a delta at a cut": (
        f.faulty(f.HoldsBack),
        "test_a_text_is_shown_at_once",
        "the client has ''",
    ),
    "tells a delta twice": (
        f.faulty(f.TellsTwice),
        "test_the_script_is_shown",
        "Marmalade is made Marmalade is made",
    ),
    "tells deltas in another order": (
        f.faulty(f.Swaps),
        "test_the_script_is_shown",
        "by the kingfisher, Marmalade",
    ),
    "never ends": (
        f.faulty(f.NeverEnds),
        "test_the_script_is_shown",
        "the turn is not over",
    ),
    "tells a result before its call": (
        f.faulty(f.ResultFirst),
        "test_the_script_is_shown",
        "the input of c1 is {}",
    ),
    "keeps every id": (
        f.faulty(f.KeepsEveryId),
        "test_endless_ids_are_not_kept",
        "bytes after 1000 ids",
    ),
    "keeps every unknown frame": (
        f.faulty(f.KeepsEveryType),
        "test_endless_ids_are_not_kept",
        "bytes after 1000 ids",
    ),
    "writes the prompt into a log field": (
        f.faulty(f.LogsThePrompt),
        "test_a_log_has_no_text",
        "albatross",
    ),
    "writes a text into a log field": (
        f.faulty(f.LogsTheText),
        "test_a_log_has_no_text",
        "thistle",
    ),
    "drops unknown types without counting": (
        f.faulty(f.CountsNothing),
        "test_an_unknown_frame_is_counted",
        "counts nothing",
    ),
    "ends at an unknown type": (
        f.faulty(f.EndsAtTheUnknown),
        "test_an_unknown_frame_is_counted",
        "the message is another one",
    ),
    "takes a long frame twice": (
        f.faulty(f.CountsAlone),
        "test_reads_make_no_difference",
        "handled as long ones",
    ),
    "sends no prompt": (
        f.faulty(f.SendsNoPrompt),
        "test_the_prompt_is_sent",
        "the prompt is not sent",
    ),
    "drops a file": (
        f.faulty(f.DropsFiles),
        "test_a_file_is_sent",
        "the file is not sent",
    ),
    "leaves its deadline in the past": (
        f.faulty(f.Spins),
        "test_the_agent_falls_silent_after_each_frame",
        "in the past",
    ),
    "goes on after a stop": (
        f.faulty(f.GoesOn),
        "test_the_turn_is_stopped_after_each_frame",
        "shown after the stop",
    ),
    "cannot be stopped twice": (
        f.faulty(f.StopsOnce),
        "test_an_end_may_come_twice_after_each_frame",
        "AssertionError",
    ),
    "raises at its deadline": (
        f.faulty(f.CannotTick),
        "test_the_gateway_stops_after_each_frame",
        "NotImplementedError",
    ),
    "takes garbage for what is new": (
        f.faulty(f.WastesNothing),
        "test_an_unsound_agent_is_left",
        "goes on after 1,100",
    ),
    "goes by a word that redaction hides": (
        f.faulty(f.GoesByTheText),
        "test_a_redacted_recording_replays",
        "source-url",
    ),
    "raises at an abort": (
        f.faulty(f.CannotAbort),
        "test_the_client_hangs_up_after_each_frame",
        "NotImplementedError",
    ),
    "sends the agent what is no frame": (
        f.faulty(f.SendsText),
        "test_the_turn_is_stopped_after_each_frame",
        "no bytes",
    ),
    "raises at the end of a connection": (
        f.faulty(f.CannotLose),
        "test_the_agent_leaves_after_each_frame",
        "ConnectionError",
    ),
    "tells what cannot be read again": (
        f.faulty(f.TellsNoText),
        "test_what_is_read_again_is_what_was_shown",
        "int for",
    ),
    "hands on what is no JSON": (
        f.faulty(f.HandsOnGarbage),
        "test_the_script_is_shown",
        "",
    ),
    "takes a new field for an error": (
        f.faulty(f.ForbidsFields),
        "test_an_unknown_field_is_found",
        "the message is another one",
    ),
    "has a schema that lacks a frame": (
        f.faulty(f.Turn, schema=td.WireSchema(frames=f.FRAMES[1:])),
        "test_its_schema_knows_each_frame",
        "'say'",
    ),
    "has a schema whose redaction keeps a text": (
        f.faulty(f.Turn, schema=td.WireSchema(frames=f.FRAMES, phrases=("Marmalade",))),
        "test_a_recording_hides_the_texts",
        "marmalade",
    ),
    "has a schema that raises at an unknown type": (
        f.faulty(f.Turn, schema=td.WireSchema(frames=f.FRAMES, type_of=f.type_of_known)),
        "test_monitors_take_any_frame",
        "turnwire.unknown",
    ),
    "cannot forget": (
        f.faulty(f.CannotForget),
        "test_it_may_forget_after_each_frame",
        "NotImplementedError",
    ),
    "raises when its client was behind": (
        f.faulty(f.CannotBeStale),
        "test_it_may_forget_after_each_frame",
        "NotImplementedError",
    ),
    "raises at an answer to nothing": (
        f.faulty(f.CannotReply),
        "test_an_answer_to_nothing_after_each_frame",
        "NotImplementedError",
    ),
    "gives nothing back": (
        f.faulty(f.Keeps),
        "test_what_is_kept_is_given_back",
        "after `forget`",
    ),
    "only says that it gives back": (
        f.faulty(f.SaysThatItForgets),
        "test_what_is_kept_is_given_back",
        "bytes back, of",
    ),
    "lacks what the gateway needs": (
        f.faulty(f.Turn, features="files"),
        "test_a_gateway_starts_with_it",
        "`features` must be",
    ),
}


class PlantedSuite(MinimalSuite):
    rounds = 2_000

    def __init__(self, dialect: Any) -> None:
        self.dialect = dialect


def found(dialect: Any, *names: str) -> dict[str, str]:
    """Return which of these tests fail, or of all, and why."""
    return {name: f"{exc!r}" for name, exc in failures(PlantedSuite(dialect), names or None)}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_its_test(fault: str) -> None:
    dialect, test, why = FAULTS[fault]

    failing = found(dialect, test)

    assert why in failing[test]


def test_each_test_of_the_suite_finds_a_fault() -> None:
    found_by = {test for _, test, _ in (*FAULTS.values(), *asking_faults.FAULTS.values())}

    found_by.add(reconnecting_dialects.TEST)
    assert suite_tests(PlantedSuite).keys() - found_by == {"test_it_has_words_for_a_text"}


def test_a_sound_dialect_has_none() -> None:
    assert found(f.faulty(f.Turn)) == {}


def test_a_suite_without_frames_does_not_pass() -> None:
    class Empty(PlantedSuite):
        def frames(self, script: Any, prompt_id: str) -> None:
            del script, prompt_id

    suite = Empty(f.faulty(f.Turn))

    assert "test_it_has_words_for_a_text" in {name for name, _ in failures(suite)}
