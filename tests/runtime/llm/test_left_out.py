"""What a wire does not carry: refused in a prompt, named in what is there already."""

import json
from typing import Any

import pytest

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model, Quirks, ShapeName
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.shape import Encoded, UnsendableError
from turnwire_agent.llm.shapes import SHAPES
from turnwire_agent.llm.shapes.left_out import NAME_CHARS, URL_CHARS, left_out
from turnwire_agent.llm.shapes.media import address, type_of
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Message,
    Result,
    Results,
    Text,
    User,
)

HI = User((Text("Hi"),))
ZIP = File("application/zip", b"zip", name="a.zip")
DRAWING = Image("image/svg+xml", b"<svg/>")
PNG = Image("image/png", b"PNG")
CALLED = Assistant((Call("c", "t"),))
WORDS = {
    ZIP: "[A file was left out, because this model cannot be sent it: "
    "a.zip, application/zip, 3 bytes]",
    DRAWING: "[A picture was left out, because this model cannot be sent it: "
    "image/svg+xml, 6 bytes]",
}
UNSENDABLE = pytest.mark.parametrize("file", [ZIP, DRAWING], ids=["file", "picture"])
EACH = pytest.mark.parametrize("shape", SHAPES)


def encoded(shape: ShapeName, *messages: Message, quirks: Quirks | None = None) -> Encoded:
    model = Model(provider="p", name="m", shape=shape, base_url="", quirks=quirks or Quirks())
    return SHAPES[shape].encode(model, Request(transcript=messages))


def sent(encoded: Encoded) -> list[Any]:
    body = json.loads(encoded.body)
    found: list[Any] = next(body[key] for key in ("messages", "input", "contents") if key in body)
    return found


def result(*content: Text | Image | File, outcome: Any = "done") -> Results:
    return Results((Result("c", "t", content, outcome),))


@EACH
@UNSENDABLE
def test_in_what_a_user_sends_now_it_is_refused_with_its_place(
    shape: ShapeName, file: File | Image
) -> None:
    with pytest.raises(UnsendableError) as raised:
        encoded(shape, HI, User((Text("secret"), file)))

    place = r"messages[1].parts[1]"
    assert str(raised.value) == f"{place}: {file.media_type} cannot be sent on this wire"


@EACH
@UNSENDABLE
def test_a_conversation_that_has_it_goes_on(shape: ShapeName, file: File | Image) -> None:
    before = encoded(shape, User((file,)), Assistant((Text("no"),)), HI)
    refused = encoded(shape, User((file,)), HI)
    by_tool = encoded(shape, HI, CALLED, result(Text("it"), file))
    later = encoded(shape, HI, CALLED, result(Text("it"), file), Assistant((Text("so"),)), HI)

    for each in (before, refused, by_tool, later):
        assert json.dumps(WORDS[file])[1:-1] in each.body.decode()
        loss = [loss for loss in each.losses if loss.what == "named in a text"]
        assert [loss.why for loss in loss] == ["the wire has no files of this type"]
        assert not loss[0].where.endswith("]]")
    assert by_tool.losses[0].where.startswith("messages[2].results[0].")
    assert before.losses[0].where == "messages[0].parts[0]"


def test_the_words_stand_in_the_result_itself() -> None:
    content = (Text("it"), ZIP)
    words = f"it\n{WORDS[ZIP]}"

    assert sent(encoded("chat", HI, CALLED, result(*content)))[-1] == {
        "role": "tool",
        "tool_call_id": "c",
        "content": words,
    }
    assert sent(encoded("responses", HI, CALLED, result(*content)))[-1]["output"] == [
        {"type": "input_text", "text": "it"},
        {"type": "input_text", "text": WORDS[ZIP]},
    ]
    (block,) = sent(encoded("messages", HI, CALLED, result(*content)))[-1]["content"]
    assert block["content"] == words
    (part,) = sent(encoded("google", HI, CALLED, result(*content)))[-1]["parts"]
    assert part["functionResponse"]["response"] == {"output": words}


def test_what_can_be_sent_beside_it_is_sent() -> None:
    content = (ZIP, PNG)

    tool, user = sent(encoded("chat", HI, CALLED, result(*content)))[-2:]
    assert (tool["content"], user["content"][1]["type"]) == (WORDS[ZIP], "image_url")
    said = Quirks(result_images=True)
    (tool,) = sent(encoded("chat", HI, CALLED, result(*content), quirks=said))[-1:]
    assert [part["type"] for part in tool["content"]] == ["text", "image_url"]
    (tool,) = sent(encoded("chat", HI, CALLED, result(PNG), quirks=said))[-1:]
    assert [part["type"] for part in tool["content"]] == ["image_url"]
    response, _, image = sent(encoded("google", HI, CALLED, result(*content)))[-1]["parts"]
    assert response["functionResponse"]["response"] == {"output": WORDS[ZIP]}
    assert image["inlineData"]["mimeType"] == "image/png"
    (part,) = sent(encoded("google", HI, CALLED, result(*content), quirks=said))[-1]["parts"]
    assert len(part["functionResponse"]["parts"]) == 1


def test_a_file_of_text_in_a_result_is_words_of_it() -> None:
    table = File("text/csv", b"a,b", name="a.csv")

    (tool,) = sent(encoded("chat", HI, CALLED, result(Text("it"), table)))[-1:]
    assert tool["content"] == "it\na,b"


def test_a_failed_result_that_has_words_alone_is_an_error_on_messages() -> None:
    for content, error in (((ZIP,), True), ((ZIP, PNG), None)):
        (block,) = sent(encoded("messages", HI, CALLED, result(*content, outcome="failed")))[-1][
            "content"
        ]
        assert block.get("is_error") is error


@EACH
@pytest.mark.parametrize("file", [File("application/pdf"), Image("image/png")])
def test_a_file_with_nothing_in_it_is_dropped(shape: ShapeName, file: File | Image) -> None:
    made = encoded(shape, User((Text("Hi"), file)), CALLED, result(Text("it"), file), HI)

    empty = [loss.where for loss in made.losses if loss.why == "it is empty"]
    assert len(empty) == 2
    assert empty[0] == "messages[0].parts[1]"
    assert b"image" not in made.body
    assert b"file" not in made.body


@pytest.mark.parametrize(
    ("shape", "file"),
    [
        ("chat", File("application/pdf", url="https://example.com/a.pdf")),
        ("messages", File("text/plain", url="https://example.com/a.txt")),
        ("google", File("application/zip", url="https://example.com/a.zip")),
    ],
)
def test_one_by_its_address_is_named_by_it(shape: ShapeName, file: File) -> None:
    with pytest.raises(UnsendableError, match=f"{file.media_type} cannot be sent by its URL on"):
        encoded(shape, User((file,)))
    made = encoded(shape, User((file,)), HI)

    assert file.url in made.body.decode()
    (loss,) = made.losses
    assert loss.why == "the wire has no files of this type by their URL"


def test_names_and_addresses_have_a_bound_and_are_one_line() -> None:
    losses: list[Loss] = []
    named = left_out(File("x/y", b"1", name="a\n" * 999), "m", losses, now=False)
    far = left_out(Image("", url="u" * 9999), "m", losses, now=False)

    assert "\n" not in named
    assert len(named) < NAME_CHARS + 100
    assert len(far) < URL_CHARS + 100
    assert "a" * 5 not in str(losses)
    with pytest.raises(UnsendableError, match="m: a picture of no type cannot be sent by its URL"):
        left_out(Image("", url="u"), "m", losses, now=True)


def test_types_are_read_as_people_write_them() -> None:
    assert type_of(Image("Image/JPG", b"1")) == "image/jpeg"
    assert type_of(File("text/CSV; charset=utf-8", b"1")) == "text/csv"
    assert address(Image("image/jpg", b"1")).startswith("data:image/jpeg;base64,")
    for shape in SHAPES:
        assert b"image/jpeg" in encoded(shape, User((Image("image/jpg", b"1"),))).body
