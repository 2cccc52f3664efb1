"""A long story: enough words to reload a page in the middle of it."""

from collections.abc import Iterator
from typing import Final

_PLACES: Final = (
    ("a lighthouse", "the keeper", "a lamp that would not go out"),
    ("a mill", "the miller", "a wheel that turned against the stream"),
    ("a harbour", "the pilot", "a chart with one island too many"),
    ("a library", "the binder", "a book whose last page was missing"),
    ("a mountain hut", "the guide", "a rope with a knot nobody could tie"),
    ("a railway station", "the clerk", "a clock that was right twice a minute"),
    ("an orchard", "the gardener", "a tree that bore keys"),
    ("a workshop", "the smith", "a bell that rang before it was struck"),
    ("a bridge", "the toll collector", "a coin with three sides"),
    ("an observatory", "the night watch", "a star that had moved a little"),
)


def chapters() -> Iterator[str]:
    """The same words every time, about five hundred of them."""
    yield "A long story, then. Reload the page whenever you like.\n\n"
    for number, (place, who, what) in enumerate(_PLACES, start=1):
        yield (
            f"**Chapter {number}.** On evening {number} the traveller came to {place}, where "
            f"{who} kept {what}. They sat down and spoke about the road, which was long, and about "
            "the weather, which was not. Before the traveller left, they were asked to remember "
            f"the number {number * number}, and they did.\n\n"
        )
    yield "That was the last evening, and this is the end."
