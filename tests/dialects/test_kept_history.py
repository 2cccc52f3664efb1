"""A wire whose agent keeps the conversation has no words for it."""

import pytest

from turnwire.core.body.conversation import SystemMessage, UnsayableError
from turnwire.dialects import DIALECTS


@pytest.mark.parametrize("name", [name for name, each in DIALECTS.items() if each.keeps_history])
def test_an_agent_that_keeps_the_conversation_is_sent_none_of_it(name: str) -> None:
    with pytest.raises(UnsayableError, match="message"):
        DIALECTS[name].write_message(SystemMessage("s", "Be brief."))
