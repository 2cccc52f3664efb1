"""How far a turn may go."""

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds of one turn."""

    steps: int = 10
    """Most answers of a model. Calls of the last one are not run."""
    attempts: int = 3
    """Most attempts of one step that end in a fault, the first one too."""
    repairs: int = 3
    """Most steps with calls that cannot be run as the model wrote them."""
    calls: int = 128
    """Most calls of one answer. Further ones are not run."""
    concurrency: int = 8
    """Most tools that run at once."""
    takeovers: int = 5
    """Most processes that take the turn over, one after another, without getting on with it."""
    reruns: int = 50
    """Most attempts and calls that are made again, for whatever reason."""
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
