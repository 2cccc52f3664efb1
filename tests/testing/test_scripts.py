import json

import pytest

from turnwire.testing import ANSWER, ERROR, INPUT, OUTPUT, PROMPT, QUESTION, SCRIPTS, TOOL_NAME
from turnwire.testing.scripts import SECRETS


def test_each_text_holds_a_secret() -> None:
    told = [script.text for script in SCRIPTS.values() if script.texts]
    reasonings = [script.reasoning for script in SCRIPTS.values() if script.reasoning]

    for text in (PROMPT, ERROR, OUTPUT, QUESTION, ANSWER, json.dumps(INPUT), *told, *reasonings):
        assert any(word in text.lower() for word in SECRETS), text


def test_no_word_of_the_wire_is_a_secret() -> None:
    assert not [word for word in SECRETS if word in f"{TOOL_NAME} {list(SCRIPTS)}"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_deltas_are_told_apart(name: str) -> None:
    """So a delta that is lost, doubled or late makes another text."""
    texts = SCRIPTS[name].texts

    assert len(set(texts)) == len(texts)
