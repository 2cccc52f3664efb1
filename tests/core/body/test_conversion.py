"""What an agent that keeps no conversation is sent of the client's messages."""

import base64
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import pytest
from msgspec import Raw, Struct

from turnwire.core.body.attachments import Attachment, AttachmentLimits
from turnwire.core.body.conversation import (
    AssistantMessage,
    Call,
    ConversationLimits,
    File,
    Message,
    Reasoning,
    Result,
    SystemMessage,
    Text,
    UnsayableError,
    UserMessage,
)
from turnwire.core.body.conversion import PARTS_MAX, convert_in_steps
from turnwire.core.body.ui_message import NO_RESULT, TEXT_BYTES_MAX
from turnwire.core.bounds import LONG_BYTES
from turnwire.core.steps import run_steps
from turnwire.errors import BadRequest

PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 8).decode()
STEP = {"type": "step-start"}


class Read(Struct):
    """What was written of a conversation, before it became bytes, and the rest of it."""

    messages: list[Message]
    left_out: Mapping[str, int]
    pending: Sequence[Call]


def read(
    *messages: Any,
    unsayable: Callable[[Message], None] = lambda _: None,
    pending: Collection[str] = (),
    prompt_files: Sequence[Attachment] | None = None,
    prompt_id: str | None = None,
    first: int = 0,
    **limits: Any,
) -> Read:
    raws = [Raw(one if isinstance(one, bytes) else msgspec.json.encode(one)) for one in messages]
    written: list[Message] = []

    def write(message: Message) -> Iterator[bytes]:
        unsayable(message)
        yield b""
        yield b"%d" % len(written)
        written.append(message)

    conversation = run_steps(
        convert_in_steps(
            raws,
            write,
            ConversationLimits(**limits),
            pending=pending,
            prompt_files=prompt_files,
            prompt_id=prompt_id,
            first=first,
        )
    )
    assert conversation.written == [b"%d" % number for number in range(len(written))]
    assert conversation.size == sum(map(len, conversation.written))
    return Read(written, conversation.left_out, conversation.pending)


def user(*parts: Any, message_id: str = "u1") -> dict[str, Any]:
    return {"id": message_id, "role": "user", "parts": parts}


def assistant(*parts: Any, message_id: str = "a1") -> dict[str, Any]:
    return {"id": message_id, "role": "assistant", "parts": parts}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def tool(call_id: str = "c1", name: str = "add", **more: Any) -> dict[str, Any]:
    state = {"state": "output-available", "output": 3}
    return {"type": f"tool-{name}", "toolCallId": call_id, "input": {"a": 1}, **state, **more}


def shown(conversation: Read) -> list[Any]:
    return [_shown(message) for message in conversation.messages]


def _shown(message: Message) -> Any:
    match message:
        case UserMessage(message_id, parts):
            return ("user", message_id, [_words(part) for part in parts])
        case SystemMessage(message_id, words):
            return ("system", message_id, words)
        case AssistantMessage(message_id, parts, calls):
            called = [f"{call.call_id}={call.name}{bytes(call.input).decode()}" for call in calls]
            return ("assistant", message_id, [_words(part) for part in parts], called)
        case Result():
            output = None if message.output is None else bytes(message.output).decode()
            return ("result", message.message_id, message.call_id, message.name, output)


def _words(part: Text | Reasoning | File) -> str:
    match part:
        case Text(words):
            return words
        case Reasoning(words):
            return f"({words})"
        case File(attachment):
            return attachment.mime


def results(*parts: Any) -> list[Result]:
    return [one for one in read(assistant(*parts)).messages if isinstance(one, Result)]


def test_a_conversation_with_a_tool() -> None:
    conversation = read(
        user(text("hi")),
        assistant(
            STEP, {"type": "reasoning", "text": "hm"}, text("Let me see."), tool(), STEP, text("3.")
        ),
        user(text("and"), text(" 4?"), {"type": "file", "mediaType": "image/png", "url": PNG}),
    )

    assert shown(conversation) == [
        ("user", "u1", ["hi"]),
        ("assistant", "a1", ["(hm)", "Let me see."], ['c1=add{"a":1}']),
        ("result", "c1:result", "c1", "add", "3"),
        ("assistant", "a1:1", ["3."], []),
        ("user", "u1:2", ["and", " 4?", "image/png"]),
    ]
    assert conversation.left_out == {}


def test_text_behind_a_call_begins_a_step() -> None:
    conversation = read(assistant(tool("c1"), tool("c2"), text("So."), tool("c3"), text("")))

    assert [one[:2] for one in shown(conversation)] == [
        ("assistant", "a1"),
        ("result", "c1:result"),
        ("result", "c2:result"),
        ("assistant", "a1:1"),
        ("result", "c3:result"),
    ]


def test_the_input_and_the_name_of_a_call() -> None:
    conversation = read(
        assistant(
            {"type": "dynamic-tool", "toolName": "my-tool", "toolCallId": "c1", "input": [1]},
            {"type": "tool-add", "toolCallId": "c2", "rawInput": "half"},
            {"type": "tool-add", "toolCallId": "c3"},
        )
    )

    assert shown(conversation)[0][3] == ["c1=my-tool[1]", 'c2=add"half"', "c3=add{}"]


def test_no_id_of_a_call_is_used_twice() -> None:
    conversation = read(
        assistant(tool("c"), tool("c")), user(text("again")), assistant(tool("c"), tool("c:2"))
    )
    calls = [
        call.call_id
        for one in conversation.messages
        if isinstance(one, AssistantMessage)
        for call in one.calls
    ]

    assert calls == ["c", "c:2", "c:3", "c:2:2"]
    assert [one.call_id for one in conversation.messages if isinstance(one, Result)] == calls


def test_what_cannot_be_said_is_left_out_and_counted() -> None:
    conversation = read(
        user(
            {"type": "data-question", "data": {}},
            {"type": "source-url"},
            {"type": "new"},
            text("x"),
        ),
        user({"type": "file", "mediaType": "image/png", "url": "ftp://x"}, {"type": 7}, text("")),
        {"role": "system", "parts": [text("secret")]},
        {"role": "tool", "parts": []},
        {"role": 7},
        b'{"role": "user", "parts": 7}',
        {"role": "user", "content": ["no text"]},
        assistant({**tool(), "approval": 7, "state": "output-denied", "toolCallId": 7}),
        assistant({"type": "tool-add"}, {"type": "step-start"}, {"type": "data-x"}),
    )

    assert shown(conversation) == [("user", "u1", ["x"])]
    assert conversation.left_out == {
        "part of an unknown type": 2,
        "data": 2,
        "source-url": 1,
        "file": 1,
        "system message": 1,
        "message of an unknown role": 2,
        "malformed message": 1,
        "call without an id": 2,
    }


def test_a_file_that_is_no_longer_accepted_is_left_out() -> None:
    image = {"type": "file", "mediaType": "image/png", "url": PNG}
    refusing = AttachmentLimits(types=["text/*"])

    conversation = read(user(text("see"), image), assistant(image), attachments=refusing)

    assert shown(conversation) == [("user", "u1", ["see"])]
    assert conversation.left_out == {"file": 2}


def test_system_messages_if_they_are_wanted() -> None:
    system = {"id": "s", "role": "system", "parts": [text("Be "), {"type": "new"}, text("brief.")]}

    conversation = read(system, {"role": "system", "content": ""}, with_system=True)

    assert shown(conversation) == [("system", "s", "Be brief.")]


def test_messages_of_older_clients() -> None:
    assert shown(read({"role": "user", "content": "hi"}, {"role": "assistant"})) == [
        ("user", "message-0-ae760f5ba03c31ac", ["hi"])
    ]


def test_messages_without_an_id_have_the_same_one_in_each_request() -> None:
    messages = [{"role": "user", "content": str(number)} for number in range(5)]

    whole = {one.message_id for one in read(*messages).messages}
    assert {one.message_id for one in read(*messages, messages=3).messages} < whole


def test_messages_without_an_id_have_other_ids_than_those_of_other_conversations() -> None:
    first, other = ({"role": "user", "content": words} for words in ("hi", "bye"))

    ids = {read(one).messages[0].message_id for one in (first, other)}
    assert len(ids) == 2
    assert len({one.message_id for one in read(first, first).messages}) == 2


def test_a_prompt_without_an_id_has_the_one_that_was_made_for_it() -> None:
    said = {"role": "user", "content": "hi"}

    made = read(said, user(text("a")), said, prompt_files=(), prompt_id="p7").messages
    assert [one.message_id for one in made] == [read(said).messages[0].message_id, "u1", "p7"]
    (own,) = read(user(text("a")), prompt_files=(), prompt_id="p7").messages
    assert own.message_id == "u1"


@pytest.mark.parametrize(
    ("most", "kept"), [(9, "uaauau"), (6, "uaauau"), (5, "uau"), (3, "uau"), (2, "u"), (1, "u")]
)
def test_the_oldest_turns_are_left_out_whole(most: int, kept: str) -> None:
    made = {"u": user(text("q")), "a": assistant(tool())}
    conversation = read(*(made[kind] for kind in "uaauau"), messages=most)

    roles = [one[0][0] for one in shown(conversation) if one[0] != "result"]
    assert "".join(roles) == kept
    assert conversation.left_out.get("message", 0) == 6 - len(kept)


def test_without_a_message_of_the_user_the_last_ones_are_kept() -> None:
    conversation = read(*[assistant(text("x"))] * 3, b"{}", messages=2)

    assert len(conversation.messages) == 1
    assert conversation.left_out == {"message": 2, "malformed message": 1}


def test_a_text_that_is_very_long_is_left_out() -> None:
    very_long = "x" * TEXT_BYTES_MAX
    long = very_long[:-2]
    conversation = read(
        user(text(very_long), text(long)),
        {"role": "assistant", "content": very_long},
        assistant(tool(state="output-error", errorText=very_long), text("y")),
    )

    assert shown(conversation) == [
        ("user", "u1", [long]),
        ("assistant", "a1", [], ['c1=add{"a":1}']),
        ("result", "c1:result", "c1", "add", None),
        ("assistant", "a1:1", ["y"], []),
    ]
    assert conversation.left_out == {"long text": 2}
    assert conversation.messages[2] == Result("c1:result", "c1", "add", None, NO_RESULT)


def test_long_values_are_read_in_several_steps() -> None:
    def steps(output: str) -> int:
        raw = Raw(msgspec.json.encode(assistant(tool(output=output))))
        return sum(1 for _ in convert_in_steps([raw], lambda _: (b"",), ConversationLimits()))

    assert steps("x" * LONG_BYTES) > steps("x")


def test_a_message_has_so_many_parts() -> None:
    conversation = read(user(*[text("x")] * (PARTS_MAX + 2)))

    assert len(shown(conversation)[0][2]) == PARTS_MAX
    assert conversation.left_out == {"part": 2}


@pytest.mark.parametrize("field", ["input", "output", "text"])
def test_a_body_that_is_not_utf_8_is_refused(field: str) -> None:
    part = tool() | {"type": "text" if field == "text" else "tool-add", field: "???"}
    raw = msgspec.json.encode(assistant(part)).replace(b"???", b"\xff")

    with pytest.raises(UnicodeDecodeError):
        read(raw)


def test_no_id_of_a_message_is_used_twice() -> None:
    messages = [
        user(text("a")),
        assistant(tool("u1"), text("b"), message_id="u1"),
        {"id": "u1:2", "role": "user", "content": "c"},
        user(text("d")),
        user(text("e"), message_id="u1:result"),
    ]
    ids = [one.message_id for one in read(*messages).messages]

    assert ids == ["u1", "u1:2", "u1:result", "u1:1", "u1:2:2", "u1:3", "u1:result:2"]
    assert [one.message_id for one in read(*messages[:3]).messages] == ids[:5]


def test_an_id_that_looks_derived_is_not_used_twice() -> None:
    messages = [user(text("x"), message_id=each) for each in ("a:2", "a", "a", "a")]

    assert [one.message_id for one in read(*messages).messages] == ["a:2", "a", "a:3", "a:4"]


def test_very_many_messages_of_one_id_are_soon_told_apart() -> None:
    conversation = read(*[assistant(tool("c"), tool("c"))] * 5_000, messages=5_000)

    calls = {one.call_id for one in conversation.messages if isinstance(one, Result)}
    assert len(calls) == 10_000


def test_a_call_that_waits_for_an_approval_has_no_result() -> None:
    asked = tool("c2", state="approval-responded", approval={"id": "x", "approved": True})
    conversation = read(
        user(text("hi")),
        assistant(tool("c1"), asked, tool("c3"), message_id="a1"),
        pending={"c2"},
    )

    assert shown(conversation)[1:] == [
        ("assistant", "a1", [], ['c1=add{"a":1}', 'c2=add{"a":1}', 'c3=add{"a":1}']),
        ("result", "c1:result", "c1", "add", "3"),
        ("result", "c3:result", "c3", "add", "3"),
    ]
    assert [one.call_id for one in conversation.pending] == ["c2"]


def test_only_a_call_of_the_last_message_waits_and_it_keeps_its_id() -> None:
    waits = tool("c", state="input-available")
    conversation = read(
        assistant(waits), user(text("and")), assistant(waits, waits, tool("d")), pending={"c", "e"}
    )

    outcomes = {one.call_id: one.error for one in conversation.messages if isinstance(one, Result)}
    assert outcomes == {"c:2": NO_RESULT, "c:3": NO_RESULT, "d": None}
    assert [one.call_id for one in conversation.pending] == ["c"]


def file(url: str = PNG) -> dict[str, Any]:
    return {"type": "file", "mediaType": "image/png", "url": url}


def no_files(message: Message) -> None:
    """What a wire does that has no words for files."""
    if isinstance(message, UserMessage | AssistantMessage):
        files = [part for part in message.parts if isinstance(part, File)]
        if files:
            raise UnsayableError("picture", files)


def test_what_a_wire_cannot_say_is_left_out_of_earlier_messages() -> None:
    conversation = read(
        user(text("see"), file(), file()),
        user(file()),
        assistant(file()),
        assistant(file(), tool()),
        user(text("so")),
        unsayable=no_files,
    )

    assert shown(conversation) == [
        ("user", "u1", ["see"]),
        ("assistant", "a1:2", [], ['c1=add{"a":1}']),
        ("result", "c1:result", "c1", "add", "3"),
        ("user", "u1:3", ["so"]),
    ]
    assert conversation.left_out == {"picture": 5}


@pytest.mark.parametrize("kind", [SystemMessage, AssistantMessage, UserMessage])
def test_a_message_that_a_wire_cannot_say_is_left_out_whole(kind: type[Message]) -> None:
    def refuse(message: Message) -> None:
        if isinstance(message, kind):
            raise UnsayableError("such a message")

    conversation = read(
        {"role": "system", "content": "Be brief."},
        user(text("hi")),
        assistant(tool()),
        unsayable=refuse,
        with_system=True,
    )

    assert not any(isinstance(one, kind) for one in conversation.messages)
    assert conversation.left_out == {"such a message": 1}
    has_calls = any(isinstance(one, AssistantMessage) for one in conversation.messages)
    assert has_calls == any(isinstance(one, Result) for one in conversation.messages)


def test_a_result_alone_does_not_make_a_message() -> None:
    def refuse(message: Message) -> None:
        if isinstance(message, Result):
            raise UnsayableError("result", [Text("no part of it")])

    assert read(assistant(tool()), unsayable=refuse).left_out == {"result": 1}


def test_what_a_wire_cannot_say_of_a_new_prompt_is_refused() -> None:
    messages = [user(file()), user(text("see"), file())]
    files = [Attachment("image/png", PNG)]

    with pytest.raises(BadRequest, match="cannot be sent what the prompt has: picture"):
        read(*messages, unsayable=no_files, prompt_files=files)


def test_the_files_of_a_new_prompt_are_not_checked_again() -> None:
    prompt = user(text("a"), file("http://no"), text("b"), {"type": "data-x"}, file("http://no"))
    files = [Attachment("image/png", PNG), Attachment("text/plain", "data:,")]

    conversation = read(user(file("http://no")), prompt, prompt_files=files)

    assert shown(conversation) == [("user", "u1", ["a", "image/png", "b", "text/plain"])]
    assert conversation.left_out == {"file": 1, "data": 1}


def test_a_part_that_nobody_knows_is_refused_in_a_new_prompt() -> None:
    with pytest.raises(BadRequest, match="part of an unknown type"):
        read(user(text("hi"), {"type": "hologram"}), prompt_files=[])


def test_messages_before_the_first_are_not_sent_and_not_counted() -> None:
    messages = [user(text("a")), assistant(text("b")), {"role": "user", "content": "c"}]

    conversation = read(*messages, first=2)

    (sent,) = conversation.messages
    assert isinstance(sent, UserMessage)
    assert sent.parts == (Text("c"),)
    assert sent.message_id == read(*messages).messages[2].message_id
    assert conversation.left_out == {}
    assert read(*messages, first=3).messages == []
