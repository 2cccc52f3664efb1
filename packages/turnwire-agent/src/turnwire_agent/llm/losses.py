"""What a shape could not carry: told, and never silent."""

from msgspec import Struct


class Loss(Struct, frozen=True, order=True):
    """One thing that the provider will not see, or will see changed."""

    where: str
    """As `messages[3].reasoning` or `tools.search.schema`."""
    what: str
    """As `dropped` or `sent as text`."""
    why: str
    """A fixed sentence. It never has the content in it."""
