"""The policies for the turn of a client that disconnects, as far as the settings allow them."""

from typing import Final

from turnwire.config.settings import Settings, listed

POLICIES: Final = ("abort", "grace", "continue")
"""The strictest first."""


def policies(settings: Settings) -> frozenset[str]:
    """Return the policies that a request may ask for, even if the default policy is stricter."""
    return frozenset(listed(settings.on_disconnect_allowed))
