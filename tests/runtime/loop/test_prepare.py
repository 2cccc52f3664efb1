import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model, ShapeName
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    Message,
    Native,
    Result,
    Results,
    Text,
    User,
)
from turnwire_agent.loop.prepare import prepare, registered, repaired
from turnwire_agent.tools.contract import Tools
from turnwire_agent.tools.functions import tool

HI = User((Text("Hi"),))


def asks(*ids: str) -> Assistant:
    return Assistant(tuple(Call(each, "notes.find") for each in ids))


def tells(*ids: str) -> Results:
    return Results(tuple(Result(each, "notes.find", (Text(each),)) for each in ids))


def unknown(call_id: str) -> Result:
    return Result(call_id, "notes.find", outcome="unknown")


@tool(name="notes.find")
def find(words: list[str], most: int = 3) -> str:
    """Find notes."""
    return f"{words} {most}"


def model(shape: ShapeName) -> Model:
    return Model(provider="p", name="m", shape=shape, base_url="https://example.com")


@pytest.mark.parametrize(
    ("transcript", "valid"),
    [
        ((), ()),
        ((HI, asks("a"), tells("a"), HI), (HI, asks("a"), tells("a"), HI)),
        ((HI, asks("a")), (HI, asks("a"), Results((unknown("a"),)))),
        ((HI, asks("a"), HI), (HI, asks("a"), Results((unknown("a"),)), HI)),
        (
            (asks("a", "b", "c"), tells("c", "a")),
            (
                asks("a", "b", "c"),
                Results((*tells("a").results, unknown("b"), *tells("c").results)),
            ),
        ),
        ((asks("a"), tells("a", "z")), (asks("a"), tells("a"))),
        ((HI, tells("a"), HI), (HI, HI)),
        ((asks("a"), tells("a"), tells("a")), (asks("a"), tells("a"))),
        ((asks("a"), asks("b")), (asks("a"), Results((unknown("a"),)), asks("b"),
                                  Results((unknown("b"),)))),
    ],
)  # fmt: skip
def test_a_transcript_is_repaired(
    transcript: tuple[Message, ...], valid: tuple[Message, ...]
) -> None:
    assert repaired(transcript) == valid
    assert repaired(valid) == valid


MESSAGES = st.one_of(
    st.just(HI),
    st.lists(st.sampled_from("abc"), unique=True, max_size=3).map(lambda ids: asks(*ids)),
    st.lists(st.sampled_from("abc"), max_size=3).map(lambda ids: tells(*ids)),
)


@given(st.lists(MESSAGES, max_size=8))
def test_whatever_was_interrupted_each_call_has_one_result(messages: list[Message]) -> None:
    valid = repaired(tuple(messages))
    for message, following in zip(valid, (*valid, None)[1:], strict=True):
        calls = message.calls if isinstance(message, Assistant) else ()
        results = following.results if isinstance(following, Results) else ()

        assert [call.id for call in calls] == [result.call_id for result in results]
    assert [m for m in valid if not isinstance(m, Results)] == [
        m for m in messages if not isinstance(m, Results)
    ]


@pytest.mark.parametrize("shape", ["chat", "responses", "messages", "google"])
def test_registered_names_go_out_as_names_of_the_wire_and_come_back(shape: ShapeName) -> None:
    transcript = (HI, asks("a"), tells("a"))
    prepared = prepare(model(shape), transcript, Tools([find]), "Be brief.")
    request = prepared.request
    name = request.tools[0].name

    assert prepared.names.tool(name) == "notes.find"
    assert request.instructions == "Be brief."
    assert request.tools[0].description == "Find notes."
    assert isinstance(request.transcript[1], Assistant)
    assert [call.name for call in request.transcript[1].calls] == [name]
    assert isinstance(request.transcript[2], Results)
    assert request.transcript[2].results[0].name == name
    answer = Assistant((Text("Yes"), Call("b", name), Call("c", "invented")))
    assert [call.name for call in registered(answer, prepared.names).calls] == [
        "notes.find",
        "invented",
    ]


def test_the_name_of_a_tool_that_is_gone_fits_the_wire_too() -> None:
    prepared = prepare(model("chat"), (asks("a"), tells("a")), Tools())

    assert isinstance(prepared.request.transcript[0], Assistant)
    assert "." not in prepared.request.transcript[0].calls[0].name


def test_native_blocks_stay() -> None:
    native = Native("chat", "p", "m", Raw(b"[{}]"))
    prepared = prepare(model("chat"), (Assistant((Text("Yes"),), native),), Tools())

    assert prepared.request.transcript == (Assistant((Text("Yes"),), native),)


def test_what_a_schema_loses_is_told_with_its_tool() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=b)b"}}}
    odd = tool(name="odd", schema=schema)(lambda arguments: arguments)
    losses = prepare(model("google"), (), Tools([odd])).losses

    assert losses == (Loss("tools.odd#/properties/a", "pattern", "is not taken"),)
