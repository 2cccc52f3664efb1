from msgspec import Raw

from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Native,
    Result,
    Results,
    Text,
    User,
)
from turnwire_agent.session.events import Attachment, FilePart, Prompted, SourcePart, TextPart
from turnwire_agent.session.files import (
    messages_without_files,
    missing,
    parts_without_files,
    prompt_without_files,
    size_of,
)

PROMPT = Prompted(entry_id="e1", content="hi", attachments=(Attachment("a/b", "data:,12", "f"),))
PARTS = (TextPart("text"), FilePart("a/b", "data:,3"), SourcePart("s1", "https://a.example/"))
NATIVE = Native("chat", "openai", "m", Raw(b"[1]"))
MESSAGES = (
    User((Text("hi"), Image("image/png", b"1"))),
    Assistant(
        (Call("c1", "t"), File("a/b", b"22"), Image("image/png", url="https://a.example")), NATIVE
    ),
    Results((Result("c1", "t", (Text("a"), File("a/b", b"333")), "failed"),)),
)


def test_the_size_of_an_exchange_is_that_of_its_files() -> None:
    assert size_of(PROMPT) == len("data:,12")
    assert size_of(PROMPT, PARTS, MESSAGES) == len("data:,12") + len("data:,3") + 6


def test_without_its_files_an_exchange_says_where_they_were() -> None:
    (attachment,) = prompt_without_files(PROMPT).attachments

    assert attachment == Attachment("a/b", "", "f")
    assert parts_without_files(PARTS) == (PARTS[0], FilePart("a/b", ""), PARTS[2])
    assert messages_without_files(MESSAGES) == (
        User((Text("hi"), missing())),
        Assistant((Call("c1", "t"), missing(), missing()), NATIVE),
        Results((Result("c1", "t", (Text("a"), missing()), "failed"),)),
    )
    assert size_of(prompt_without_files(PROMPT), (), messages_without_files(MESSAGES)) == 0
