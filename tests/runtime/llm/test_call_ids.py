import re

from turnwire_agent.llm.shapes.call_ids import AnswerIds, fitting


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


def test_each_call_of_an_answer_has_an_id_of_its_own() -> None:
    ids = AnswerIds("t")

    given = ("a", "", "a", "t-3", "", "t-1")
    assert [ids.new(each) for each in given] == ["a", "t-1", "t-2", "t-3", "t-4", "t-5"]


def test_ids_that_look_like_made_ones_cost_no_time() -> None:
    ids = AnswerIds("t")
    made = [ids.new(f"t-{number}") for number in range(50_000, 100_000)]
    made += [ids.new("") for _ in range(50_000)]

    assert len(set(made)) == 100_000
