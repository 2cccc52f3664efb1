"""What an agent says that it is able to do."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.dialects.acp.abilities import Abilities, read

NONE = Abilities()


@pytest.mark.parametrize(
    ("told", "able"),
    [
        (
            {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "sessionCapabilities": {"resume": {}},
            },
            Abilities(
                can_load=True,
                can_resume=True,
                takes_images=True,
                takes_audio=True,
                takes_resources=True,
            ),
        ),
        (None, NONE),
        ([], NONE),
        ({"loadSession": None, "promptCapabilities": None, "sessionCapabilities": None}, NONE),
        ({"loadSession": "yes", "promptCapabilities": 1, "sessionCapabilities": []}, NONE),
        ({"promptCapabilities": {"image": None, "audio": 1}}, NONE),
        ({"sessionCapabilities": {"resume": None}}, NONE),
        ({"sessionCapabilities": {"resume": False}}, NONE),
        ({"loadSession": True, "promptCapabilities": None}, Abilities(can_load=True)),
    ],
)
def test_what_is_no_ability_hides_no_other(told: Any, able: Abilities) -> None:
    assert read(Raw(json.dumps(told).encode())) == able


def test_an_agent_that_tells_nothing_is_able_to_nothing() -> None:
    assert read(Raw()) == NONE
