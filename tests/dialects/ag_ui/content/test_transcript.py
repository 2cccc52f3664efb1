"""What a turn said, as messages that an agent takes back."""

import json
import sys
import tracemalloc
from collections.abc import Callable

import msgspec
import pytest
from msgspec import Raw

from support.ag_ui_messages import Item, read
from turnwire.dialects.ag_ui.content.transcript import KEPT_MAX, LENGTHS_MAX, Transcript


def kept() -> Transcript:
    return Transcript(is_kept=True)


def function_calls(work: Callable[[], None]) -> int:
    """How many functions a piece of work calls, those of C too."""
    count = 0

    def note(_frame: object, event: str, _what: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_a_step_is_text_and_calls_and_their_results_follow() -> None:
    said = kept()
    said.text("m1", "Let me ")
    said.call("c1", "weather", Raw(b'{"a":1}'))
    said.text("m1", "look.")
    said.call("c2", "weather", Raw(b'"no json"'))
    said.result("c1", "t1", Raw(b'"21"'))
    said.result("c2", "t2", Raw(b'[{"type":"text","text":"x"}]'))
    said.text("m2", "Done.")

    assert read(said.messages()) == [
        Item("assistant", "text", "Let me look."),
        Item("assistant", "call", ("weather", '{"a":1}'), "c1"),
        Item("assistant", "call", ("weather", "no json"), "c2"),
        Item("tool", "result", "21", "c1"),
        Item("tool", "result", '[{"type":"text","text":"x"}]', "c2"),
        Item("assistant", "text", "Done."),
    ]


def test_texts_that_came_at_once_are_said_one_after_the_other() -> None:
    said = kept()
    for message_id, delta in [("m1", "One, "), ("m2", "Two, "), ("m1", "one."), ("m2", "two.")]:
        said.text(message_id, delta)

    assert read(said.messages()) == [Item("assistant", "text", "One, one.Two, two.")]


def test_however_short_its_messages_are_a_turn_has_a_bound() -> None:
    said = kept()
    for number in range(KEPT_MAX // 256):
        said.text(f"m{number}", "a")

    assert (said.is_whole, list(said.messages())) == (False, [])


def test_a_text_costs_the_same_however_many_calls_had_results_beside_a_denied_one() -> None:
    """An event must not take time for all that was before it."""

    def of_texts(calls: int) -> int:
        said = kept()

        def tell() -> None:
            for number in range(100):
                said.text(f"m{number % 2}", "a")

        for number in range(calls):
            said.call(f"c{number}", "weather", Raw(b"{}"))
        for number in range(1, calls):
            said.result(f"c{number}", f"t{number}", Raw(b"1"))
        said.deny(["c0"])
        return function_calls(tell)

    assert of_texts(400) == of_texts(4)


def test_a_step_ends_with_the_result_that_takes_the_place_of_a_denial() -> None:
    said = kept()
    said.call("c1", "delete", Raw(b"{}"))
    said.deny(["c1"])
    said.text("m1", "Hm. ")
    said.ask_again(["c1"])
    said.deny(["c1"])
    said.result("c1", "t1", Raw(b'"gone"'))
    said.text("m2", "So.")

    assert read(said.messages()) == [
        Item("assistant", "text", "Hm. "),
        Item("assistant", "call", ("delete", "{}"), "c1"),
        Item("tool", "result", "gone", "c1"),
        Item("assistant", "text", "So."),
    ]


def test_a_call_that_waits_has_no_result() -> None:
    said = kept()
    said.call("c1", "delete", Raw(b"{}"))

    assert read(said.messages()) == [Item("assistant", "call", ("delete", "{}"), "c1")]


def test_calls_with_one_id_are_messages_of_their_own_with_their_own_results() -> None:
    said = kept()
    for number, results in enumerate(([], ["a"], ["b"])):
        said.begin("c1")
        for _ in range(2):  # with its input, and with its outcome
            said.call("c1", "weather", Raw(b"%d" % number))
        for content in results:
            said.result("c1", f"t{number}", Raw(b'"%b"' % content.encode()))

    assert read(said.messages()) == [
        Item("assistant", "call", ("weather", "0"), "c1"),
        Item("tool", "result", "No result", "c1"),
        Item("assistant", "call", ("weather", "1"), "c1"),
        Item("tool", "result", "a", "c1"),
        Item("assistant", "call", ("weather", "2"), "c1"),
        Item("tool", "result", "b", "c1"),
    ]
    ids = [json.loads(message)["id"] for message in said.messages()]
    assert len(set(ids)) == len(ids)


def test_a_result_of_an_unknown_call_is_not_said() -> None:
    """No agent takes it back."""
    said = kept()
    said.result("c9", "t9", Raw(b'"x"'))

    assert list(said.messages()) == []


def test_the_messages_before_the_turn_come_first_and_count() -> None:
    said = Transcript(is_kept=True, sent=[b'{"id":"u1"}'])
    said.text("m1", "Hello")
    first = list(said.messages())
    said.was_sent()

    assert first[0] == b'{"id":"u1"}'
    assert list(said.messages()) == first
    assert len('{"id":"u1"}Hello') < said.kept_bytes < 1_000


SENT = (b"first", b"no result of c2", b"no result of c3", b"last")


def standing_in(*, is_kept: bool = True) -> Transcript:
    said = Transcript(is_kept=is_kept, sent=SENT)
    said.stands_in("c2", "c2:2", 1, sends_error=True)
    said.stands_in("c3", "c3", 2, sends_error=False)
    return said


@pytest.mark.parametrize("is_kept", [False, True])
def test_what_says_that_a_call_has_no_result_is_sent_only_if_it_shall_be(*, is_kept: bool) -> None:
    assert list(standing_in(is_kept=is_kept).messages()) == [SENT[0], SENT[1], SENT[3]]


def test_the_result_of_the_call_takes_its_place() -> None:
    said = standing_in()
    for call_id in ("c2", "c3"):
        said.result(call_id, f"{call_id}:t", Raw(b'"21"'))

    first, *results, last = said.messages()
    assert (first, last) == (SENT[0], SENT[3])
    assert [json.loads(each) for each in results] == [
        {"role": "tool", "id": f"{call_id}:t", "toolCallId": sent_id, "content": "21"}
        for call_id, sent_id in (("c2", "c2:2"), ("c3", "c3"))
    ]


def test_the_result_of_another_call_with_its_id_does_not() -> None:
    """Then the agent is sent that it has none, so that it does not run both."""
    said = standing_in()
    said.begin("c3")
    said.call("c3", "weather", Raw(b"{}"))
    said.result("c3", "t3", Raw(b'"21"'))

    assert list(said.messages())[:4] == [*SENT]
    assert len(list(said.messages())) == 6


def test_messages_that_are_not_kept_are_sent_once() -> None:
    said = Transcript(is_kept=False, sent=[b"{}"])

    assert list(said.messages()) == [b"{}"]
    said.was_sent()
    assert list(said.messages()) == []
    assert said.kept_bytes == 0


def test_what_is_forgotten_takes_no_memory_and_is_not_whole() -> None:
    said = Transcript(is_kept=True, sent=[b"{}"])
    said.text("m1", "Hello")
    said.forget()
    said.text("m1", "more")

    assert (said.kept_bytes, said.is_whole, list(said.messages())) == (0, False, [])


def test_of_a_turn_that_is_too_long_nothing_is_kept() -> None:
    said = kept()
    said.text("m1", "x" * KEPT_MAX)
    assert said.is_whole
    said.text("m1", "x")
    said.call("c1", "x", Raw(b"{}"))
    said.result("c1", "t1", Raw(b"{}"))

    assert not said.is_whole
    assert list(said.messages()) == []
    assert said.length("m1") == KEPT_MAX + 1


@pytest.mark.parametrize("length", [1, 500])
@pytest.mark.parametrize("at_once", [False, True])
def test_calls_and_results_count_with_all_that_they_take(length: int, *, at_once: bool) -> None:
    """Ids and objects may take more than an input and an output, but the event is not kept."""
    said = kept()
    ids = [{kind: f"{kind}{number}" + "x" * length for kind in "ct"} for number in range(300)]
    events = [json.dumps({**each, "rest": "x" * 2_000, "whole": {}}).encode() for each in ids]

    def tell(event: bytes, *, is_result: bool) -> None:
        fields = msgspec.json.decode(event, type=dict[str, Raw])
        call_id, message_id = (json.loads(bytes(fields[name])) for name in "ct")
        if is_result:
            said.result(call_id, message_id, fields["whole"])
        else:
            said.call(call_id, "weather", fields["whole"])

    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for results in ([False], [True]) if at_once else ([False, True],):
            for each in events:
                for is_result in results:
                    tell(bytes(bytearray(each)), is_result=is_result)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert 0.7 < said.kept_bytes / taken < 1.4


@pytest.mark.parametrize("delta", ["a b ", "ü"])
def test_texts_that_come_at_once_count_with_all_that_they_take(delta: str) -> None:
    """Each is told in small deltas."""
    said = kept()
    events = [json.dumps([f"m{number % 3}", delta]) for number in range(30_000)]
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for each in events:
            said.text(*json.loads(each))
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()

    assert 0.7 < said.kept_bytes / taken < 1.4


def test_a_character_may_come_in_two_halves() -> None:
    """One half alone, or that of another message, is no character."""
    said = kept()
    for message_id, half in [
        ("m1", "\ud83d"),
        ("m2", "\ude00"),
        ("m1", "\ude00"),
        ("m1", "\ud83d"),
    ]:
        said.text(message_id, half)

    assert read(said.messages()) == [Item("assistant", "text", "\U0001f600\ufffd\ufffd")]


def test_a_turn_of_many_small_calls_has_a_bound() -> None:
    said = kept()
    for number in range(KEPT_MAX // 600):
        said.call(f"c{number}", "weather", Raw(b"{}"))
        said.result(f"c{number}", f"t{number}", Raw(b"1"))

    assert (said.is_whole, list(said.messages())) == (False, [])


def test_so_has_one_whose_call_waits() -> None:
    said = kept()
    said.adopt("c1", "delete", Raw(b" " * KEPT_MAX))

    assert not said.is_whole


def test_a_denial_that_is_taken_back_takes_no_room() -> None:
    said = kept()
    said.call("c1", "delete", Raw(b"{}"))
    before = said.kept_bytes
    said.deny(["c1"])
    assert said.kept_bytes > before
    said.ask_again(["c1"])

    assert said.kept_bytes == before


def test_for_an_agent_that_keeps_the_conversation_lengths_are_kept_alone() -> None:
    said = Transcript(is_kept=False)
    said.text("m1", "abc")

    assert not said.is_whole
    assert list(said.messages()) == []
    assert (said.length("m1"), said.length("m2")) == (3, None)


def test_the_lengths_are_bounded_in_number() -> None:
    said = kept()
    for number in range(LENGTHS_MAX + 1):
        said.text(f"m{number}", "a")

    assert (said.length("m0"), said.length("m1")) == (None, 1)


def test_the_result_of_a_call_that_others_say_follows_it() -> None:
    said = kept()
    said.adopt("c1", "delete", Raw(b"{}"))
    said.adopt("c2", "delete", Raw(b"{}"))
    said.text("m2", "Hm.")
    said.result("c2", "t2", Raw(b'"gone"'))

    assert read(said.messages()) == [
        Item("tool", "result", "gone", "c2"),
        Item("assistant", "text", "Hm."),
    ]


def test_for_an_agent_that_keeps_the_conversation_nothing_is_adopted() -> None:
    said = Transcript(is_kept=False)
    said.adopt("c1", "delete", Raw(b"{}"))

    assert list(said.messages()) == []
