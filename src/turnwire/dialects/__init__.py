"""The dialects of this gateway, by name.

A new dialect is a package here and an entry in `DIALECTS`.
"""

from typing import Final

from turnwire.core.agent import Dialect
from turnwire.dialects.acp import Acp
from turnwire.dialects.ag_ui import AgUi
from turnwire.dialects.openai_chat import OpenAiChat
from turnwire.dialects.openai_responses import OpenAiResponses
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.ui_stream import UiStream
from turnwire.dialects.v2 import V2

DIALECTS: Final[dict[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        *(V2(), SessionAgent(), Acp()),
        *(AgUi(), UiStream(), OpenAiChat(), OpenAiResponses()),
    )
}
