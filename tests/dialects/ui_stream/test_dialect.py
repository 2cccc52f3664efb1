"""The dialect: what it is named and what it has."""

import pytest

from turnwire.core.body.conversation import Text, UserMessage
from turnwire.core.operations import OperationName
from turnwire.core.requests import ResumeRequest, StopRequest
from turnwire.dialects.ui_stream import UiStream


def test_it_has_prompts_alone_over_http() -> None:
    dialect = UiStream()

    assert (dialect.name, dialect.transport) == ("ui-stream", "http")
    assert not dialect.keeps_history
    assert dialect.operations == frozenset[OperationName]()
    assert list(dialect.write_message(UserMessage("u1", (Text("hi"),))))
    with pytest.raises(NotImplementedError):
        dialect.stop(StopRequest(user_id="u", init_s=1, verdict_s=1))


def test_a_turn_without_questions_is_only_followed() -> None:
    """A recording has no answers."""
    protocol = UiStream().resume(ResumeRequest(user_id="u1", init_s=5))

    assert protocol.connect_request().method == "POST"
    assert protocol.connection_opened(0).events == ()
