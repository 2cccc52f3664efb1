"""The agent wires that this gateway speaks. A new one is a package here and a line in the table."""

from typing import Final

from turnwire.core.dialect import Dialect
from turnwire.dialects.session_agent.dialect import SessionAgent
from turnwire.dialects.v2.dialect import V2

DIALECTS: Final[dict[str, Dialect]] = {dialect.name: dialect for dialect in (V2(), SessionAgent())}
