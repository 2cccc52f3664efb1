import io

from msgspec import Raw

from turnwire_agent.cli.terminal import Terminal, fault_line, printable
from turnwire_agent.llm import events
from turnwire_agent.llm.faults import Fault


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_no_text_moves_a_terminal() -> None:
    assert printable("a\tb\nc\x1b[2J\r\x9b") == "a\tb\nc\\x1b[2J\\x0d\\x9b"
    for out, shown in ((Screen(), "\\x1b[2J"), (io.StringIO(), "\x1b[2J")):
        Terminal(out, io.StringIO()).event(events.TextDelta("0", "\x1b[2J"))

        assert out.getvalue() == shown


def test_each_event_for_people_is_shown() -> None:
    out, beside = io.StringIO(), io.StringIO()
    terminal = Terminal(out, beside)
    for event in (
        events.Begun("a", "m"),
        events.ReasoningStart("0"),
        events.ReasoningDelta("0", "Hm\x1b"),
        events.ReasoningEnd("0"),
        events.TextStart("1"),
        events.TextDelta("1", "Yes"),
        events.TextEnd("1"),
        events.ToolCall("c", "find", "{}"),
        events.FileMade("image/png", b"abc"),
        events.Source("https://example.com"),
        events.Finish("stop", "end", events.Usage(input=3), Raw(b"[]")),
    ):
        terminal.event(event)

    assert out.getvalue() == "Yes\n"
    assert beside.getvalue().splitlines() == [
        "Hm\\x1b",
        "calls find with {}",
        "made a file: image/png, 3 bytes",
        "source: https://example.com",
        "finished: stop (end), 3 tokens in, ? out",
    ]


def test_bytes_are_marked_by_their_way() -> None:
    beside = io.StringIO()
    tap = Terminal(io.StringIO(), beside, wire=True).tap
    assert tap
    tap.sent(b"POST / HTTP/1.1\r\na: b\r\n\r\n")
    tap.sent(b"{}")
    tap.received(b"HTTP/1.1 200 OK\r\n")
    tap.received(b"da")
    tap.received(b"")
    tap.received(b"ta: \xff\x1b\n\n")

    assert beside.getvalue() == (
        "> POST / HTTP/1.1\n> a: b\n> \n> {}\n< HTTP/1.1 200 OK\n< data: \\xff\\x1b\n< \n"
    )


def test_a_fault_is_a_line() -> None:
    assert fault_line(Fault(kind="truncated")) == "truncated"
    assert (
        fault_line(Fault(kind="quota", status=429, code="q", message="No.", retry_after_s=1.5))
        == "quota (429, q): No. [again in 1.5 s]"
    )
