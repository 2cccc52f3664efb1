from hypothesis import given
from hypothesis import strategies as st

from turnwire_agent.loop.calls.ids import ID_MAX, CallIds

IDS = st.lists(
    st.sampled_from(["a", "a-2", "a-3", "b", "", "call", "x" * 96, "x" * 97, "x" * 98]), unique=True
)


def test_an_id_is_that_of_the_model_unless_it_is_used() -> None:
    ids = CallIds(frozenset({"a", "a-2"}))

    assert [ids.unique(each) for each in ("b", "a", "b", "a")] == ["b", "a-3", "b", "a-3"]


def test_a_missing_id_is_made() -> None:
    assert CallIds(frozenset()).unique("") == "call"
    assert CallIds(frozenset({"call"})).unique("") == "call-2"


def test_a_long_id_is_made_short_and_stays_another() -> None:
    ids = CallIds(frozenset())
    first, second = ids.unique("x" * 450), ids.unique("x" * 451)

    assert first != second
    assert len(first) == len(second) == 32
    assert CallIds(frozenset()).unique("x" * 451) == second


@given(st.lists(IDS, max_size=4))
def test_ids_are_unique_in_a_turn_and_the_same_in_each_process(answers: list[list[str]]) -> None:
    used: list[str] = []
    for answer in answers:
        ids, others = CallIds(frozenset(used)), CallIds(frozenset(used))
        new = [ids.unique(each) for each in answer]

        assert [others.unique(each) for each in answer] == new
        used += new
    assert len(set(used)) == len(used)
    assert all(0 < len(each) <= ID_MAX for each in used)
