"""Settings that are good, and what is wrong with others beside them."""

import pytest

from gateway.tokens import KEY
from turnwire.config.environ import from_environ
from turnwire.errors import SettingsError

GOOD = {
    "TURNWIRE_ENABLED": "true",
    "TURNWIRE_AGENT_URL": "wss://agents.example/api/sessions/{session_id}/ws?role=client",
    "TURNWIRE_JWT_KEY": KEY,
}


def problems(**given: str) -> list[str]:
    """What is wrong with these beside settings that are good."""
    with pytest.raises(SettingsError) as refused:
        from_environ(GOOD | {f"TURNWIRE_{name.upper()}": value for name, value in given.items()})
    return refused.value.problems
