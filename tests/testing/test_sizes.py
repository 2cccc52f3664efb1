from msgspec import Raw, Struct

from turnwire.testing.sizes import deep_size


class Small(Struct, gc=False):
    held: object


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held


def test_what_is_held_counts_wherever_it_is() -> None:
    held = "x" * 10_000
    for holder in ({held: None}, {1: held}, [held], {held}, (held,), Small(held), Slotted([held])):
        assert 10_000 < deep_size(holder) < 12_000, holder


def test_it_counts_once_and_the_program_does_not_count() -> None:
    held = "x" * 10_000

    assert deep_size([held, held, [held]]) < 12_000
    assert deep_size([test_it_counts_once_and_the_program_does_not_count, Small, len]) < 1_000


def test_raw_json_has_the_size_of_its_bytes() -> None:
    assert 10_000 < deep_size([Raw(b"1" * 10_000)]) < 12_000
