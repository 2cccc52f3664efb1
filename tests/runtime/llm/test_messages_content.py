import json
import re
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from runtime.llm.messages_bodies import HI, HI_BLOCK, MODEL, asked, encoded, native
from runtime.llm.transcripts import PNG, request
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.shape import UnsendableError
from turnwire_agent.llm.shapes import messages
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Outcome,
    Reasoning,
    Result,
    Results,
    Text,
    User,
)


def test_a_user_has_texts_pictures_and_documents() -> None:
    parts = (
        Text("see"),
        Text(" \n"),
        Image("image/png", PNG[:3]),
        Image("", url="https://example.com/a"),
        File("image/png", PNG[:3]),
        File("application/pdf", b"%PDF", name="a.pdf"),
        File("application/pdf", url="https://example.com/a.pdf"),
        File("text/plain", "ä".encode()),
        File("text/csv", b"a,\xff", name="a.csv"),
        File("text/plain"),
    )
    png = {"type": "base64", "media_type": "image/png", "data": "iVBO"}
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}

    assert asked(User(parts))["messages"][0]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image", "source": png},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a"}},
        {"type": "image", "source": png},
        {"type": "document", "source": pdf, "title": "a.pdf"},
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "ä"}},
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "a,\ufffd"},
            "title": "a.csv",
        },
    ]
    assert encoded(User(parts)).losses == (
        Loss("messages[0].parts[8]", "sent as text/plain", "the wire has no other texts"),
        Loss("messages[0].parts[9]", "dropped", "it is empty"),
    )


@pytest.mark.parametrize("kind", ["jpeg", "png", "gif", "webp"])
def test_a_picture_has_one_of_four_types(kind: str) -> None:
    (message,) = asked(User((Image(f"image/{kind}", b"x"),)))["messages"]

    assert message["content"][0]["source"]["media_type"] == f"image/{kind}"


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (File("application/x-foo", b"1"), "application/x-foo cannot be sent on"),
        (File("text/plain", url="https://e.com"), "text/plain cannot be sent by its URL on"),
        (Image("image/bmp", b"BM"), "image/bmp cannot be sent on"),
    ],
)
def test_what_the_wire_has_no_place_for_is_named(part: File | Image, why: str) -> None:
    with pytest.raises(UnsendableError) as error:
        encoded(HI, User((Text("secret"), part)))

    assert str(error.value) == f"messages[1].parts[1]: {why} this wire"


def test_whoever_speaks_twice_has_one_message_and_results_come_first() -> None:
    answer = Assistant((Text("a"), Call("c", "t")))
    results = Results((Result("c", "t", (Text("it"),)),))
    told = encoded(HI, HI, answer, results, User((Text("and"),)), Assistant((Text(""),)), HI)

    assert told.losses == (Loss("messages[5]", "dropped", "there is nothing in it"),)
    assert json.loads(told.body)["messages"] == [
        {"role": "user", "content": [HI_BLOCK, HI_BLOCK]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "tool_use", "id": "c", "name": "t", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": "it"},
                {"type": "text", "text": "and"},
                HI_BLOCK,
            ],
        },
    ]


def test_a_user_who_says_nothing_is_refused_while_nothing_else_follows() -> None:
    nothing, answer = User((Text(" "),)), Assistant((Text("a"),))

    for told in ((nothing,), (HI, answer, nothing)):
        with pytest.raises(
            UnsendableError, match=rf"messages\[{len(told) - 1}\]: there is nothing in it$"
        ):
            encoded(*told)
    assert len(asked(HI, answer, nothing, HI)["messages"]) == 3
    assert len(asked(HI, nothing)["messages"]) == 1
    assert asked(HI, answer)["messages"][-1]["role"] == "assistant"  # the model goes on with it


def test_an_answer_of_another_model_has_its_words_and_its_calls() -> None:
    answer = Assistant(
        (
            Reasoning("hm"),
            Call("c/1", "t", '{"a": 1.50}'),
            Text("one"),
            Call("c2", "t", '{"broken'),
            Call("c3", "t", "[1]"),
            Call("c4", "t", " "),
            Call("c5", "t", "[" * 100_000),
            Image("image/png", PNG),
        )
    )
    told = encoded(HI, answer)
    text, *calls = json.loads(told.body)["messages"][1]["content"]

    assert b'"input":{"a": 1.50}' in told.body
    assert text == {"type": "text", "text": "one"}
    assert re.fullmatch(r"c_1-[0-9a-f]{16}", calls[0]["id"])
    assert [call["id"] for call in calls[1:]] == ["c2", "c3", "c4", "c5"]
    assert [call["input"] for call in calls] == [
        {"a": 1.5},
        {"INVALID_JSON": '{"broken'},
        {"INVALID_JSON": "[1]"},
        {},
        {"INVALID_JSON": "[" * 100_000},
    ]
    assert told.losses == (
        Loss("messages[1].reasoning", "dropped", "it is another model's"),
        Loss("messages[1].files", "dropped", "an assistant's message has none"),
        *[Loss("messages[1].arguments", "sent as text", "they are no JSON object")] * 3,
    )


def test_a_result_says_how_its_call_ended() -> None:
    outcomes: tuple[Outcome, ...] = ("done", "done", "failed", "denied", "failed")
    contents: Any = [(), (Text("it"), Text("is")), (Text("no"),), (), (Image("image/png", PNG),)]
    answer = Assistant(tuple(Call(f"c{number}", "t") for number in range(5)))
    results = Results(
        tuple(
            Result(f"c{number}", "t", content, outcome)
            for number, (content, outcome) in enumerate(zip(contents, outcomes, strict=True))
        )
    )
    told = asked(HI, answer, results)["messages"][2]["content"]
    picture = told[4]["content"].pop()

    assert picture["type"] == "image"
    assert [each.pop("type") for each in told] == ["tool_result"] * 5
    assert told == [
        {"tool_use_id": "c0"},
        {"tool_use_id": "c1", "content": "it\nis"},
        {"tool_use_id": "c2", "content": "This call failed.\nno", "is_error": True},
        {
            "tool_use_id": "c3",
            "content": "A person denied this call. It did not run.",
            "is_error": True,
        },
        {"tool_use_id": "c4", "content": [{"type": "text", "text": "This call failed."}]},
    ]


def test_no_two_calls_have_one_id() -> None:
    answer = Assistant((Call("call_0", "t"),))
    own = native(b'[{"type":"tool_use","id":"call_0"}]', Call("call_0", "t"))
    results = Results((Result("call_0", "t"),))
    told = asked(HI, answer, results, answer, results, HI, own, results)["messages"]
    ids = [each.get("id") or each.get("tool_use_id") for one in told for each in one["content"]]

    assert ids[1] == ids[2] == "call_0"
    assert ids[3] == ids[4]
    assert re.fullmatch(r"call_0_3-[0-9a-f]{16}", ids[3])
    assert ids[6:] == ["call_0", "call_0"]  # they are the provider's own


def test_a_result_without_its_call_has_an_id_that_fits() -> None:
    (message,) = asked(Results((Result("c/1", "t"),)))["messages"]

    assert re.fullmatch(r"c_1-[0-9a-f]{16}", message["content"][0]["tool_use_id"])


def test_its_own_answer_goes_back_byte_for_byte_and_ids_stay_as_they_were() -> None:
    blocks = (
        b'[{"type":"thinking", "thinking":"h\\u006d","signature":"Ab+/=="},'
        b'{"type":"redacted_thinking","data":"x" },'
        b'{"type":"tool_use","id":"' + b"i" * 70 + b'","name":"t","input":{"a":1.50}}]'
    )
    answer = native(blocks, Reasoning("hm"), Call("i" * 70, "t", '{"a":1.50}'))
    results = Results((Result("i" * 70, "t", (Text("it"),)),))
    told = encoded(HI, answer, results)

    assert b'"content":' + blocks in told.body
    assert json.loads(told.body)["messages"][2]["content"][0]["tool_use_id"] == "i" * 70
    assert told.losses == ()
    for other in ("provider", "name"):
        model = msgspec.structs.replace(MODEL, **{other: "another"})
        told = messages.encode(model, Request(transcript=(HI, answer, results)))
        assert b"signature" not in told.body
        assert [loss.what for loss in told.losses] == ["dropped"]
        assert len(json.loads(told.body)["messages"][2]["content"][0]["tool_use_id"]) == 64


def test_half_a_character_costs_itself_alone() -> None:
    answer = Assistant((Call("c", "t", '{"a":"\ud800"}'),))
    told = asked(User((Text("a\ud800b"), Text("ü"))), answer)["messages"]

    assert [each["text"] for each in told[0]["content"]] == ["a\ufffdb", "ü"]
    assert told[1]["content"][0]["input"] == {"INVALID_JSON": '{"a":"\ufffd"}'}


def rules(told: list[dict[str, Any]]) -> None:
    """What the provider refuses, though its types do not say so."""
    seen: set[str] = set()
    called: list[str] = []
    roles = [each["role"] for each in told]
    assert all(one != other for one, other in pairwise(roles))
    assert roles[-1] == "user"
    for message in told:
        kinds = [each["type"] for each in message["content"]]
        results = [each for each in message["content"] if each["type"] == "tool_result"]
        assert kinds
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        assert [each["tool_use_id"] for each in results] == called
        called = [each["id"] for each in message["content"] if each["type"] == "tool_use"]
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", each) for each in called)
        assert not seen & set(called)
        seen |= set(called)
        for each in message["content"]:
            assert each["type"] != "text" or each["text"].strip()
            if each.get("is_error"):
                assert isinstance(each["content"], str)
                assert each["content"].strip()


def test_any_transcript_can_be_sent() -> None:
    for seed in range(500):
        body = json.loads(messages.encode(MODEL, request(seed)).body)
        rules(body["messages"])
        if body.get("thinking", {}).get("type") == "adaptive":
            assert not {"temperature", "top_p"} & set(body)
            assert body.get("tool_choice", {}).get("type") not in ("any", "tool")
