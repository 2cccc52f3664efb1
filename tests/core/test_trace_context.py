"""The W3C's rules for `traceparent` and `tracestate`, one by one."""

import pytest

from turnwire.core.trace_context import TraceContext, read

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("parent", "flags"),
    [
        (PARENT, 1),
        (f" {PARENT}\t", 1),
        (f"00-{TRACE}-{SPAN}-00", 0),
        (f"00-{TRACE}-{SPAN}-ff", 255),
        (f"01-{TRACE}-{SPAN}-01", 1),
        (f"cc-{TRACE}-{SPAN}-01-what-the-future-brings", 1),
    ],
)
def test_a_parent_is_read(parent: str, flags: int) -> None:
    context = read([parent.encode()], [])

    assert context == TraceContext(TRACE, SPAN, flags)
    assert context.headers == {"traceparent": f"00-{TRACE}-{SPAN}-{flags:02x}"}


@pytest.mark.parametrize(
    "parent",
    [
        *("", "00", PARENT.upper(), PARENT[:-1], f"{PARENT}0", f"{PARENT}-more", f"{PARENT}\n"),
        *(f"ff-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01", f"00-{TRACE}-{'0' * 16}-01"),
        *(f"cc-{TRACE}-{SPAN}-01.more", f"00-{TRACE[:-1]}-{SPAN}-01", f"00-{TRACE}-{SPAN}-0g"),
        *(f"00_{TRACE}_{SPAN}_01", f"0-{TRACE}-{SPAN}-01", "é"),
    ],
)
def test_a_malformed_parent_is_not_there(parent: str) -> None:
    assert read([parent.encode()], [b"a=1"]) is None


def test_no_parent_or_two_are_none() -> None:
    assert read([], [b"a=1"]) is None
    assert read([PARENT.encode()] * 2, []) is None


@pytest.mark.parametrize(
    ("states", "passed_on"),
    [
        (["a=1"], "a=1"),
        (["a=1,b=2", "c=3"], "a=1,b=2,c=3"),
        ([" a=1 ,\t,, b=a b "], "a=1,b=a b"),
        (["tenant@system=x/y:z", "1tenant@system=x"], "tenant@system=x/y:z,1tenant@system=x"),
        ([""], ""),
        *(([bad], "") for bad in ("a", "=1", "a=", "A=1", "a=b=c", "a=\x7f", "é=1", "1a=1")),
        (["a=1,a=2"], ""),
        (["a=1,b"], ""),
        ([",".join(f"k{n}=1" for n in range(33))], ""),
        ([",".join(f"k{n}=1" for n in range(32))], ",".join(f"k{n}=1" for n in range(32))),
        (["a=" + "v" * 257], ""),
        ([f"a={'v' * 250},b={'w' * 250},c={'x' * 250}"], f"a={'v' * 250},b={'w' * 250}"),
    ],
)
def test_a_state_is_passed_on_or_dropped(states: list[str], passed_on: str) -> None:
    context = read([PARENT.encode()], [state.encode("latin-1") for state in states])

    assert context is not None
    assert context.state == passed_on
    assert context.headers.get("tracestate", "") == passed_on
