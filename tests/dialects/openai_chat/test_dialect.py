"""The dialect: what it is named and what it has."""

import pytest

from turnwire.core.body.conversation import Text, UserMessage
from turnwire.core.operations import OperationName
from turnwire.core.rejection import RejectedError
from turnwire.core.requests import ResumeRequest, StopRequest
from turnwire.dialects.openai_chat import OpenAiChat


def test_it_has_prompts_alone_over_http() -> None:
    dialect = OpenAiChat()

    assert (dialect.name, dialect.transport) == ("openai-chat", "http")
    assert not dialect.keeps_history
    assert dialect.operations == frozenset[OperationName]()
    assert dialect.needs == {"agent_auth", "agent_model"}
    assert list(dialect.write_message(UserMessage("u1", (Text("hi"),))))
    with pytest.raises(NotImplementedError):
        dialect.stop(StopRequest(user_id="u", init_s=1, verdict_s=1))


def test_nothing_waits_for_an_answer() -> None:
    with pytest.raises(RejectedError):
        OpenAiChat().resume(ResumeRequest(user_id="u", init_s=1))


def test_the_thread_is_no_field_of_the_operators() -> None:
    assert "user" in OpenAiChat().request_fields
