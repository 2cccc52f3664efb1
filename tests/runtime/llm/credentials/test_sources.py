import pytest

from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.credentials.sources import KeyValue, KeyVariable, usual_variable


async def test_a_value_is_the_key() -> None:
    source = KeyValue("key")
    source.expire()

    assert (await source.read()).reveal() == "key"


async def test_an_empty_value_names_its_place() -> None:
    with pytest.raises(CredentialError, match=r"^No key: models\.big\.api_key is empty\.$"):
        await KeyValue("", place="models.big.api_key").read()


async def test_a_variable_is_read_each_time() -> None:
    environ = {"K": "first"}
    source = KeyVariable("K", environ=environ)

    assert (await source.read()).reveal() == "first"
    environ["K"] = "second"
    source.expire()
    assert (await source.read()).reveal() == "second"


async def test_a_variable_that_is_not_there_is_named() -> None:
    source = KeyVariable("K", environ={"L": ""})

    with pytest.raises(CredentialError, match=r"^No key: the variable K is not set\.$") as raised:
        await source.read()
    assert raised.value.failure.reason == "missing"
    with pytest.raises(CredentialError, match=r"^No key: the variable L is empty\.$"):
        await KeyVariable("L", environ={"L": ""}).read()


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("google", "GEMINI_API_KEY"),
    ],
)
async def test_a_provider_has_a_usual_variable(provider: str, variable: str) -> None:
    assert (await usual_variable(provider, environ={variable: "key"}).read()).reveal() == "key"


def test_a_provider_without_a_usual_variable_gets_no_other_key() -> None:
    with pytest.raises(CredentialError, match="the provider 'mine' has no usual variable"):
        usual_variable("mine")
