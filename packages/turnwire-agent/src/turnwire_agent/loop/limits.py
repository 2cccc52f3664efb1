"""How far a turn may go."""

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds of one turn."""

    steps: int = 10
    """At most so many answers of a model. Calls of the last one are not run."""
    attempts: int = 3
    """At most so many attempts of one step may end in a fault, the first one included."""
    repairs: int = 3
    """At most so many steps may have calls that cannot be run as the model wrote them."""
    calls: int = 128
    """At most so many calls of one answer are run."""
    concurrency: int = 8
    """At most so many tools run at once."""
    takeovers: int = 5
    """At most so many processes take the turn over, one after another, without progress."""
    reruns: int = 50
    """At most so many attempts and calls are made again, for any reason."""
    turn_s: float = 1_800.0
    """Longest turn, without the time in which it waits for people."""
    question_s: float = 86_400.0
    """How long a person has to answer."""
    answer_chars: int = 2_000_000
    """Most characters of text, reasoning and inputs of one answer."""

    def __post_init__(self) -> None:
        """Refuse a bound that no turn could keep.

        Raises:
            ValueError: in one line.

        """
        for name in self.__struct_fields__:
            least = 0 if name in {"repairs", "takeovers", "reruns"} else 1
            if not getattr(self, name) >= least:
                raise ValueError(f"limits.{name}: at least {least}")
