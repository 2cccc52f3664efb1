"""What may become of a turn when its client hangs up, as far as the settings say so."""

from typing import Final

from turnwire.settings import Settings, listed

POLICIES: Final = ("abort", "grace", "continue")
"""The strictest first."""


def policies(settings: Settings) -> frozenset[str]:
    """The policies that a request may ask for, even where a stricter one is set."""
    return frozenset(listed(settings.on_disconnect_allowed))
