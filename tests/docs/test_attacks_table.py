"""The table of attacks is read off the tests that try them."""

from pathlib import Path

from turnwire_lab.docs.faults import TESTS, rows
from turnwire_lab.docs.marks import functions, marks

MARKED = """
@pytest.mark.attack("a lie", "nobody believes it")
@pytest.mark.fault("a wheel", "it limps")
def test_a_cart(): ...
"""

HELD = {
    "test_what_is_merely_rare_is_answered",
    "test_between_two_requests_there_is_more_time",
    "test_a_stream_has_all_the_time_it_wants",
    "test_the_rest_of_a_refused_body_has_its_time",
    "test_a_connection_whose_refused_body_came_goes_on",
    "test_a_card_that_shows_it_is_asked_at",
    "test_every_target_is_run",
    "test_a_page_of_a_listed_origin_prompts_resumes_and_stops",
    "test_what_the_proxy_hides_is_there",
}
"""Beside the attacks: what must still be possible."""


def test_attacks_and_faults_are_two_tables(tmp_path: Path) -> None:
    for folder in ("attacks", "a"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test_cart.py").write_text(MARKED)

    assert list(rows(tmp_path, "attack")) == [
        ("a lie", "nobody believes it", "`attacks/test_cart.py`: a cart"),
        ("a lie", "nobody believes it", "`a/test_cart.py`: a cart"),
    ]
    assert [breaks for breaks, _, _ in rows(tmp_path)] == ["a wheel", "a wheel"]


def test_every_test_of_the_attack_suite_is_marked_or_shows_what_must_still_work() -> None:
    unmarked = {
        test.name
        for path in (TESTS / "attacks").glob("test_*.py")
        for test in functions(path.read_text(encoding="utf-8"))
        if not marks(test, "attack")
    }

    assert unmarked == HELD
