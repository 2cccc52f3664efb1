import pytest

from turnwire.config import dialect_defaults
from turnwire.core.operations import OperationName
from turnwire.dialects import DIALECTS


@pytest.mark.parametrize("name", DIALECTS)
def test_the_defaults_follow_from_what_the_agent_keeps(name: str) -> None:
    dialect = DIALECTS[name]
    can_repeat = OperationName.RESUME in dialect.operations

    assert dialect_defaults.turn_log(name) == ("off" if can_repeat else "memory")
    assert dialect_defaults.keeper(name) == ("agent" if dialect.keeps_history else "client")


def test_the_wires_that_repeat_their_turns() -> None:
    assert {name for name in DIALECTS if dialect_defaults.turn_log(name) == "off"} == {
        "v2",
        "session-agent",
    }
