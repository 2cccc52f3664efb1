"""Turns that ended with an error: what the text of the error says about the agent's side."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from turnwire.core.turn.outcome import Outcome
from turnwire.doctor.findings import Code

_CODES: Final[Mapping[str | None, Code]] = MappingProxyType(
    {
        Outcome.UNREACHABLE.text: Code.AGENT_NOT_DIALLED,
        Outcome.AGENT_REFUSED.text: Code.AGENT_REFUSED,
        Outcome.INTERRUPTED.text: Code.AGENT_CUT,
        Outcome.SILENT.text: Code.AGENT_SILENT,
    }
)
"""By the text of the gateway's own errors."""

BEYOND_REPAIR: Final = frozenset({Code.AGENT_NOT_DIALLED, Code.AGENT_REFUSED})
"""Codes after which another turn would show nothing more."""


def failed_turn_symptom(error: str, request_id: str) -> tuple[Code, str]:
    """The symptom of a stream with this error. Any other text than the gateway's is the agent's."""
    code = _CODES.get(error)
    if code is None:
        return Code.TURN_FAILED, f"the stream of request {request_id} had an error chunk"
    return code, f"the stream of request {request_id} had the error {error!r}"
