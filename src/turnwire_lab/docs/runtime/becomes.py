"""What becomes of each thing on a wire, and what of a turn survives on another one."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from turnwire_agent.llm.model import ShapeName
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.shape import Encoded, UnsendableError
from turnwire_agent.llm.shapes import SHAPES
from turnwire_lab.docs.runtime.samples import HI, PARTS, answered, model

MESSAGES = {"chat": "messages", "responses": "input", "messages": "messages", "google": "contents"}
"""Where a body has its transcript."""


def rows(shape: ShapeName) -> Iterator[tuple[str, str, str]]:
    """A thing, its JSON on this wire, and what of it is lost."""
    asked = [Request(transcript=(HI,)), Request(transcript=(HI, HI))]  # a wire may join the two
    before = [
        each
        for request in asked
        for each in _messages(SHAPES[shape].encode(model(shape), request), shape)
    ]
    for name, transcript in PARTS:
        try:
            encoded = SHAPES[shape].encode(model(shape), Request(transcript=transcript))
        except UnsendableError as error:
            yield name, "refused", f"`{error}`"
            continue
        shown = [
            each for each in _messages(encoded, shape) if each not in before or len(transcript) == 1
        ]
        json = (msgspec.json.encode(each).decode().replace("|", "\\|") for each in shown)
        yield name, "<br>".join(f"`{each}`" for each in json) or "nothing", _losses(encoded)


def _messages(encoded: Encoded, shape: ShapeName) -> list[Any]:
    shown: list[Any] = msgspec.json.decode(encoded.body)[MESSAGES[shape]]
    return shown


def _losses(encoded: Encoded) -> str:
    return "<br>".join(f"`{loss.where}` {loss.what}: {loss.why}" for loss in encoded.losses)


def survival() -> Iterator[tuple[str, str, str]]:
    """From which shape, to which, and what becomes of a turn with all that there is."""
    for made_by in SHAPES:
        for asked in SHAPES:
            encoded = SHAPES[asked].encode(model(asked), Request(transcript=answered(made_by)))
            found = [name for word, name in KEPT.items() if word in encoded.body]
            kept = found[:1] if found[0] == KEPT[NATIVE] else found
            yield f"`{made_by}`", f"`{asked}`", "; ".join([", ".join(kept), *_dropped(encoded)])


NATIVE: Final = b'{"signature":"sealed"}'
KEPT: Final = {
    NATIVE: "the answer, byte for byte",
    b"Hello": "text",
    b'"search"': "the call",
    b"It": "its result",
}
"""What of `samples.answered` is found in a body, and what it is called."""


def _dropped(encoded: Encoded) -> Iterator[str]:
    for loss in encoded.losses:
        place = loss.where.partition(".")[2] or "the result's"
        yield f"{place} {loss.what}"
