"""Which policies of a hang-up the settings let a request ask for."""

import pytest

from turnwire.config.hang_ups import POLICIES, policies
from turnwire.config.settings import Settings


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
