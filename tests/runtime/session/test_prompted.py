import base64

import pytest

from turnwire_agent.llm.transcript import File, Image, Text, User
from turnwire_agent.session.events import Attachment, Prompted
from turnwire_agent.session.prompted import EMPTY, user_message


def message(*attachments: Attachment, content: str = "") -> User:
    return user_message(Prompted(entry_id="e1", content=content, attachments=attachments))


def url(content: bytes, head: str = "data:image/png;base64") -> str:
    return f"{head},{base64.b64encode(content).decode()}"


@pytest.mark.parametrize(
    ("attachment", "part"),
    [
        (Attachment("image/png", url(b"\x89PNG")), Image("image/png", b"\x89PNG")),
        (Attachment("image/png", url(b"a", "DATA:;Base64")), Image("image/png", b"a")),
        (
            Attachment("application/pdf", url(b"%PDF"), "a.pdf"),
            File("application/pdf", b"%PDF", name="a.pdf"),
        ),
        (Attachment("text/plain", "data:,a%20b%C3%A9"), File("text/plain", "a bé".encode())),
        (
            Attachment("image/png", "https://files.example/a.png"),
            Image("image/png", url="https://files.example/a.png"),
        ),
        (
            Attachment("text/plain", "https://files.example/a", "a.txt"),
            File("text/plain", url="https://files.example/a", name="a.txt"),
        ),
    ],
)
def test_an_attachment_is_a_picture_or_a_file(attachment: Attachment, part: Image | File) -> None:
    assert message(attachment, content="hi") == User((Text("hi"), part))


@pytest.mark.parametrize(
    "broken", ["data:", "data:image/png;base64,é", "data:;base64,QQ", "data:,"]
)
def test_a_file_without_content_is_named_and_not_left_out(broken: str) -> None:
    named = message(Attachment("image/png", broken, "a.png"))
    unnamed = message(Attachment("image/png", broken))

    assert named == User((Text("(The content of a file is missing: a.png.)"),))
    assert unnamed == User((Text("(The content of a file is missing: image/png.)"),))


def test_a_prompt_without_content_is_no_empty_message() -> None:
    assert message() == User((Text(EMPTY),))
