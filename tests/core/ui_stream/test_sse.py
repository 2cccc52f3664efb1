import pytest
from msgspec import Raw

from turnwire.core.ui_stream import chunks, sse


@pytest.mark.parametrize(
    ("chunk", "record"),
    [
        (
            chunks.Start("t"),
            b'event: message-start\ndata: {"type":"start","messageId":"t"}\n\n',
        ),
        (chunks.Start(), b'event: message-start\ndata: {"type":"start"}\n\n'),
        (chunks.StartStep(), b'event: start-step\ndata: {"type":"start-step"}\n\n'),
        (
            chunks.DataPart("data-state", Raw(b"[1]"), "d"),
            b'event: data-state\ndata: {"type":"data-state","data":[1],"id":"d"}\n\n',
        ),
        (
            chunks.DataPart("data-state", Raw(b"[1]"), transient=True),
            b'event: data-state\ndata: {"type":"data-state","data":[1],"transient":true}\n\n',
        ),
        (
            chunks.ToolInputDelta("c", '{"a'),
            (
                b"event: tool-input-delta\n"
                b'data: {"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{\\"a"}\n\n'
            ),
        ),
        (
            chunks.ToolOutputPreliminary("c", Raw(b"1")),
            (
                b'event: tool-output-available\ndata: {"type":"tool-output-available",'
                b'"toolCallId":"c","output":1,"preliminary":true,"providerExecuted":true}\n\n'
            ),
        ),
        (
            chunks.Finish(),
            b'event: message-finish\ndata: {"type":"finish"}\n\ndata: [DONE]\n\n',
        ),
        (
            chunks.TextDelta("t:t0", "a\r\n\0\u2028\u2029\x85é"),
            (
                b'event: text-delta\ndata: {"type":"text-delta","id":"t:t0",'
                b'"delta":"a\\r\\n\\u0000\\u2028\\u2029\\u0085\xc3\xa9"}\n\n'
            ),
        ),
        (
            chunks.ToolOutputAvailable("c", Raw('"\u2028"'.encode())),
            (
                b'event: tool-output-available\ndata: {"type":"tool-output-available",'
                b'"toolCallId":"c","output":"\\u2028","providerExecuted":true}\n\n'
            ),
        ),
    ],
)
def test_the_record_of_a_chunk(chunk: chunks.Chunk, record: bytes) -> None:
    assert sse.record(chunk) == record

    nameless = record.partition(b"\n")[2]
    assert sse.record(chunk, event_line=False) == nameless


@pytest.mark.parametrize("event_line", [True, False])
@pytest.mark.parametrize("text", ["", "a", '"', "é\u2028", "\U0001f600"])
def test_the_short_way_writes_the_record_of_a_delta(*, text: str, event_line: bool) -> None:
    prefix = sse.delta_prefix("t:t0", event_line=event_line)
    records = [
        sse.record(chunks.TextDelta("t:t0", one), event_line=event_line) for one in (text, "b")
    ]

    assert sse.deltas(prefix, [text]) == records[0]
    assert sse.deltas(prefix, [text, "b"]) == b"".join(records)


def test_half_of_a_pair_cannot_be_written() -> None:
    with pytest.raises(UnicodeEncodeError):
        sse.deltas(b"", ["\ud83d"])
    with pytest.raises(UnicodeEncodeError):
        sse.record(chunks.TextDelta("t:t0", "\ud83d"))


def test_a_keepalive_is_a_comment() -> None:
    assert sse.KEEPALIVE == b": keepalive\n\n"
