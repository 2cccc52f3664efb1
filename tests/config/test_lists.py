"""Lists in one setting: the policies here, keys and origins where tokens and keys are tested."""

import pytest

from turnwire.config.lists import policies
from turnwire.config.settings import Settings
from turnwire.core.turn.limits import POLICIES


@pytest.mark.parametrize(
    ("allowed", "listed"),
    [
        ("", set()),
        ("abort", {"abort"}),
        (" Grace , continue,", {"grace", "continue"}),
        (",".join(POLICIES), set(POLICIES)),
    ],
)
def test_a_list_is_read_in_any_case(allowed: str, listed: set[str]) -> None:
    assert policies(Settings(on_disconnect_allowed=allowed)) == listed
