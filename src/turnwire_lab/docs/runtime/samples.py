"""One example of each thing that a transcript may have."""

from typing import Final

from msgspec import Raw

from turnwire_agent.llm.model import Model, ShapeName
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Message,
    Native,
    Reasoning,
    Result,
    Results,
    Text,
    User,
)

HI: Final = User((Text("Hi"),))
PICTURE: Final = Image("image/png", b"PNG")
ZIP: Final = File("application/zip", b"ZIP", name="a.zip")
CALLED: Final = Assistant((Call("call_1", "search", '{"q":"x"}'),))

PARTS: Final[tuple[tuple[str, tuple[Message, ...]], ...]] = (
    ("a user's text", (HI,)),
    ("a picture, as bytes", (User((PICTURE,)),)),
    ("a picture, as a URL", (User((Image("image/png", url="https://example.com/a.png"),)),)),
    ("a PDF, as bytes", (User((File("application/pdf", b"PDF", name="a.pdf"),)),)),
    ("a PDF, as a URL", (User((File("application/pdf", url="https://example.com/a.pdf"),)),)),
    ("a file of text", (User((File("text/csv", b"a,b"),)),)),
    ("a recording of sound", (User((File("audio/wav", b"WAV"),)),)),
    ("a file of another type", (User((ZIP,)),)),
    ("an answer's text", (HI, Assistant((Text("Hello"),)), HI)),
    (
        "another model's reasoning, and its text",
        (HI, Assistant((Reasoning("Hm"), Text("Hello"))), HI),
    ),
    ("a picture that a model made", (HI, Assistant((PICTURE,)), HI)),
    ("a call, and its result", (HI, CALLED, Results((Result("call_1", "search", (Text("It"),)),)))),
    ("a call that failed", (HI, CALLED, Results((Result("call_1", "search", (), "failed"),)))),
    ("a file of another type, in an earlier message", (User((ZIP,)), Assistant((Text("No"),)), HI)),
    (
        "a file of another type, in a result",
        (HI, CALLED, Results((Result("call_1", "search", (ZIP,)),))),
    ),
    ("a picture, in a result", (HI, CALLED, Results((Result("call_1", "search", (PICTURE,)),)))),
)
"""What it is called, and a transcript whose last messages but `HI` are it."""


def model(shape: ShapeName) -> Model:
    """A model of a shape."""
    return Model(provider=shape, name="model", shape=shape, base_url="")


def answered(shape: ShapeName) -> tuple[Message, ...]:
    """A turn in which a model of this shape thought, spoke, called, and made a picture."""
    native = Native(shape, shape, "model", Raw(b'[{"signature":"sealed"}]'))
    parts = (Reasoning("Hm"), Text("Hello"), Call("call/1", "search", '{"q":"x"}'), PICTURE)
    result = Result("call/1", "search", (Text("It"), PICTURE))
    return (HI, Assistant(parts, native), Results((result,)))
