"""The dialect: what it is named and what it has."""

import pytest

from turnwire.core.body.conversation import Text, UserMessage
from turnwire.core.operations import OperationName
from turnwire.core.requests import ResumeRequest, StopRequest
from turnwire.dialects.openai_responses import OpenAiResponses
from turnwire.dialects.openai_responses.continuation import ContinuationProtocol


def test_it_has_prompts_and_answers_over_http() -> None:
    dialect = OpenAiResponses()

    assert (dialect.name, dialect.transport) == ("openai-responses", "http")
    assert not dialect.keeps_history
    assert dialect.operations == frozenset[OperationName]()
    assert dialect.needs == {"agent_auth", "agent_model"}
    assert list(dialect.write_message(UserMessage("u1", (Text("hi"),))))
    assert isinstance(dialect.resume(ResumeRequest(user_id="u", init_s=1)), ContinuationProtocol)
    with pytest.raises(NotImplementedError):
        dialect.stop(StopRequest(user_id="u", init_s=1, verdict_s=1))


def test_the_thread_is_no_field_of_the_operators() -> None:
    assert {
        "background",
        "conversation",
        "previous_response_id",
    } <= OpenAiResponses().request_fields
