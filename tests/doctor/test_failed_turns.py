"""The text of a stream's error says what to look at."""

import pytest

from turnwire.core.turn.outcome import Outcome
from turnwire.doctor.failed_turns import failed_turn_symptom
from turnwire.doctor.findings import Code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Outcome.UNREACHABLE.text, Code.AGENT_NOT_DIALLED),
        (Outcome.AGENT_REFUSED.text, Code.AGENT_REFUSED),
        (Outcome.INTERRUPTED.text, Code.AGENT_CUT),
        (Outcome.SILENT.text, Code.AGENT_SILENT),
        ("the model is out of credit: secret", Code.TURN_FAILED),
        ("", Code.TURN_FAILED),
    ],
)
def test_the_error_of_a_stream(error: str, code: Code) -> None:
    found, text = failed_turn_symptom(error, "r1")

    assert found is code
    assert "request r1" in text
    assert "secret" not in text
