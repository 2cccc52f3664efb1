"""What is known of a call: whether another is the same. A long input is not kept."""

from msgspec import Raw

from support.ag_ui_calls import begun, repeated
from turnwire.core.events import ToolUpdate
from turnwire.dialects.ag_ui.content.calls import INPUT_MAX, UNNAMED, Calls
from turnwire.dialects.ag_ui.content.known_call import TOO_LONG, KnownCall


def test_a_call_is_the_same_by_its_tool_and_its_input() -> None:
    call = KnownCall("x", Raw(b'{"a":1}'))

    assert call.is_same("x", Raw(b'{"a": 1}'))
    assert not call.is_same("y", Raw(b'{"a":1}'))
    assert not call.is_same("x", Raw(b'{"a":2}'))
    assert call.has_less(Raw(b'{"a":1,"b":2}'))
    assert not call.has_less(Raw(b'{"a":2,"b":2}'))


def test_an_input_that_was_forgotten_is_the_same_as_none() -> None:
    call = KnownCall("x", Raw(b'{"a":1}'))
    call.forget_input()

    assert not call.is_same("x", Raw(b'{"a":1}'))
    assert not call.is_same("x", TOO_LONG)


def test_an_input_that_is_too_long_to_be_kept_is_that_of_no_other_call() -> None:
    calls = begun('"', "x" * INPUT_MAX, '"')
    calls.end("c1")
    calls.next_run()

    assert len(repeated(calls, '"', "x" * INPUT_MAX, '"')) == len(["settled", "pending", "running"])


def test_so_is_one_that_was_kept_too_many_bytes_before() -> None:
    """A long one is compared while its call is among those that are kept."""
    calls = Calls()
    for number in range(3):
        calls.start(f"c{number}", "x")
        calls.args(f"c{number}", f'"{number}{"x" * (INPUT_MAX // 2 - 8)}"')
        calls.result(f"c{number}", Raw(b"1"))
    calls.next_run()
    told = []
    for number in range(3):
        told.append(calls.start(f"c{number}", "x"))
        calls.args(f"c{number}", f'"{number}{"x" * (INPUT_MAX // 2 - 8)}"')
        told[-1] += calls.end(f"c{number}")

    assert [bool(each) for each in told] == [False, False, True]


def test_an_input_is_read_once_to_compare_it_while_it_is_kept() -> None:
    """A run may ask about many calls, each of which is compared with all that wait."""
    calls = begun(f'"{"x" * INPUT_MAX}'[:INPUT_MAX])
    calls.result("c1", Raw(b"1"))
    calls.start("c2", "x")
    calls.args("c2", '{"a":')
    (first,) = calls.digests("c2")
    calls.args("c2", "1}")
    calls.end("c2")
    (whole,) = calls.digests("c2")
    assert whole != first
    assert calls.digests("c2")[0] is whole
    calls.result("c2", Raw(b"1"))
    calls.next_run()
    calls.start("c2", "x")
    calls.args("c2", '{"a":1}')

    assert calls.end("c2")


def test_a_tool_whose_name_says_nothing_is_no_other_tool() -> None:
    calls = Calls()
    calls.adopt("c1", UNNAMED, Raw(b'{"a":1}'))
    calls.next_run()

    last = repeated(calls, '{"a":1}')[-1]
    assert isinstance(last, ToolUpdate)
    assert last.tool_name == "x"
