import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from msgspec.structs import replace

from runtime.loop.journal import began, done
from turnwire_agent.journal.port import Effect
from turnwire_agent.llm.transcript import Outcome
from turnwire_agent.loop.calls.checked_input import input_hash
from turnwire_agent.loop.calls.effects import intent, key, left_open, settled

HASH = input_hash(Raw(b'{"n":1}'))
TEXTS = st.text(st.sampled_from("a/%:"), max_size=3)


def test_an_effect_is_journaled_with_its_intent() -> None:
    assert intent("s", began("c0", "charge")) == (Effect("s/t/c0", "s/t/c0", HASH, "intent"),)


def test_an_effect_stands_under_its_call_though_the_key_is_that_of_several() -> None:
    begun = replace(began("c0", "charge"), key="order-7")

    effects = [*intent("s", begun), *settled("s", begun, done("c0")), *left_open("s", begun)]
    assert {(each.key, each.call) for each in effects} == {("s/t/c0", "s/t/c0")}
    assert [each.state for each in effects] == ["intent", "done", "unknown"]


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        ("done", "done"),
        ("failed", "done"),
        ("denied", "done"),
        ("canceled", "unknown"),
        ("unknown", "unknown"),
    ],
)
def test_an_effect_is_settled_with_its_outcome(outcome: Outcome, state: str) -> None:
    [effect] = settled("s", began("c0", "charge"), done("c0", outcome=outcome))

    assert (effect.key, effect.call, effect.input_hash, effect.state, effect.result) == (
        "s/t/c0",
        "s/t/c0",
        HASH,
        state,
        b"",
    )


def test_the_value_of_a_call_is_the_result_of_its_effect() -> None:
    ended = replace(done("c0"), value=Raw(b"[1]"))

    assert settled("s", began("c0", "charge"), ended)[0].result == b"[1]"
    unknown = replace(ended, outcome="unknown")
    assert settled("s", began("c0", "charge"), unknown)[0].result == b""


def test_what_a_stop_leaves_open_is_unknown() -> None:
    begun = began("c0", "charge")

    assert left_open("s", begun) == tuple(
        replace(each, state="unknown") for each in intent("s", begun)
    )
    assert left_open("s", replace(begun, key="")) == (), "it is of a tool that others run"
    assert left_open("s", began("c0", "find")) == ()


def test_what_only_reads_has_no_effect() -> None:
    begun = began("c0", "find")

    assert intent("s", begun) == ()
    assert settled("s", begun, done("c0")) == ()


@given(st.tuples(TEXTS, TEXTS, TEXTS), st.tuples(TEXTS, TEXTS, TEXTS))
def test_each_call_has_a_key_of_its_own(
    one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    assert (key(*one) == key(*other)) == (one == other)
