"""The dialect: what it is named and what it has."""

import pytest

from turnwire.core.body.conversation import Text, UserMessage
from turnwire.core.operations import OperationName
from turnwire.core.requests import StopRequest
from turnwire.dialects.ag_ui import AgUi


def test_it_has_prompts_alone_over_http() -> None:
    dialect = AgUi()

    assert (dialect.name, dialect.transport) == ("ag-ui", "http")
    assert not dialect.keeps_history
    assert dialect.operations == frozenset[OperationName]()
    assert list(dialect.write_message(UserMessage("u1", (Text("hi"),))))
    with pytest.raises(NotImplementedError):
        dialect.stop(StopRequest(user_id="u", init_s=1, verdict_s=1))
