"""Who follows which prompt, where one process has several conversations of one session.

Two prompts of one user with the same text on the same channel look the same
on this wire, and each conversation would take the first echo for its own
(page 6, "Ambiguity"). Whoever owns the conversations of a session shares one
`Claims` among them.
"""

from typing import Protocol


class Claims(Protocol):
    """The prompts of one session that somebody follows."""

    def take(self, prompt_id: str, /) -> bool:
        """Our echo may be this one. False: another conversation follows it already."""
        ...


class Unshared:
    """One conversation alone: every echo that fits is its own."""

    def take(self, _prompt_id: str, /) -> bool:
        return True
