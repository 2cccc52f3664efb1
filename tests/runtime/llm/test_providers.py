import pytest

from turnwire_agent.llm.credentials.sources import USUAL_NAMES
from turnwire_agent.llm.providers import PROVIDERS
from turnwire_agent.llm.shapes import SHAPES


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_provider_can_be_spoken_to(name: str) -> None:
    provider = PROVIDERS[name]

    assert provider.shape in SHAPES
    assert not provider.base_url.endswith("/")
    assert provider.base_url.startswith("https://" if provider.key_variable else "http://127.")
    assert ":" not in name


def test_the_usual_variables_are_the_same_everywhere() -> None:
    assert {name: PROVIDERS[name].key_variable for name in USUAL_NAMES} == USUAL_NAMES
