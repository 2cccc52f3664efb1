import re

from turnwire_agent.llm.call_ids import fitting


def test_an_id_that_fits_is_itself() -> None:
    assert fitting("call_Az-09", 10) == "call_Az-09"


def test_any_other_fits_and_stays_apart_from_its_neighbours() -> None:
    ids = [
        f"{prefix}{number}" for prefix in ("a/", "a_", "ü", "x" * 450, "") for number in range(50)
    ]
    for chars in (40, 64):
        made = [fitting(each, chars) for each in ids]

        assert len(set(made)) == len(ids)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each) for each in made)
        assert max(map(len, made)) <= chars
        assert made == [fitting(each, chars) for each in ids]


def test_an_empty_one_and_half_a_character_are_ids_too() -> None:
    assert re.fullmatch(r"[0-9a-f]{16}", fitting("", 40))
    assert fitting("\ud800", 40) != fitting("\ud801", 40)
