from turnwire_agent.llm.events import Usage
from turnwire_agent.loop.usage import total


def test_what_is_known_of_all_is_summed() -> None:
    assert total([Usage(1, 2, 3, 4, 5), Usage(10, 20, 30, 40, 50)]) == Usage(11, 22, 33, 44, 55)


def test_what_one_does_not_say_is_unknown_and_never_0() -> None:
    assert total([Usage(1, None, 0, 4, 5), Usage(10, 20, 0, None, 50)]) == Usage(
        11, None, 0, None, 55
    )
    assert total([Usage(1), None]) == Usage()


def test_nothing_has_no_sum() -> None:
    assert total([]) is None
