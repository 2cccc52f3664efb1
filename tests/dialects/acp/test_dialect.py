"""The dialect: what it is named and what it has."""

import pytest

from turnwire.core.body.conversation import Text, UnsayableError, UserMessage
from turnwire.core.operations import OperationName
from turnwire.core.requests import ResumeRequest
from turnwire.dialects.acp import Acp


def test_it_is_a_websocket_whose_agent_names_its_sessions() -> None:
    dialect = Acp()

    assert (dialect.name, dialect.transport) == ("acp", "websocket")
    assert (dialect.keeps_history, dialect.names_sessions) == (True, True)
    assert dialect.operations == {OperationName.HISTORY}
    assert dialect.needs == {"agent_cwd"}
    with pytest.raises(UnsayableError):
        dialect.write_message(UserMessage("u1", (Text("hi"),)))
    with pytest.raises(NotImplementedError):
        dialect.resume(ResumeRequest(user_id="u", init_s=1))
