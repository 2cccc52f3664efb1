import pytest

from turnwire_agent.journal.ids import ID_MAX, checked


@pytest.mark.parametrize("good", ["a", " ", "ä" * ID_MAX, "\U0001f600", "a\nb", "'; drop table x"])
def test_what_every_store_keeps_passes(good: str) -> None:
    checked("a", good)


@pytest.mark.parametrize("bad", ["", "a" * (ID_MAX + 1), "secret\0", "secret\udc80"])
def test_what_one_of_them_does_not_keep_is_refused_without_repeating_it(bad: str) -> None:
    with pytest.raises(ValueError, match="An id") as refused:
        checked("a", bad)

    assert "secret" not in str(refused.value)
