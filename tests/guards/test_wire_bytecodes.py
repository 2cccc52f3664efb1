"""Bytecodes a delta of every wire, in the core, as `test_bytecodes` counts them."""

import sys
from collections.abc import Sequence
from typing import Final

import pytest

from guards.counting import opcodes
from guards.limits import hold
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the limits are bytecodes of Python 3.11"
)

FEW, MANY = 300, 900
WIRES: Final[dict[str, tuple[Sequence[bytes], bytes]]] = {
    "openai-chat": (
        [b'{"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}'],
        (
            b'{"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
            b'"choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}'
        ),
    ),
    "openai-responses": (
        [
            (
                b'{"type":"response.created","response":{"id":"r","object":"response",'
                b'"status":"in_progress","model":"m","output":[]},"sequence_number":0}'
            ),
            (
                b'{"type":"response.output_item.added","output_index":0,"item":{"id":"m","type":"message",'
                b'"status":"in_progress","role":"assistant","content":[]},"sequence_number":1}'
            ),
            (
                b'{"type":"response.content_part.added","item_id":"m","output_index":0,"content_index":0,'
                b'"part":{"type":"output_text","text":""},"sequence_number":2}'
            ),
        ],
        (
            b'{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,'
            b'"delta":"word ","logprobs":[],"sequence_number":3}'
        ),
    ),
    "ui-stream": (
        [b'{"type":"start"}', b'{"type":"start-step"}', b'{"type":"text-start","id":"1"}'],
        b'{"type":"text-delta","id":"1","delta":"word "}',
    ),
    "acp": (
        [
            b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}',
            b'{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}',
        ],
        (
            b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
            b'{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word "}}}}'
        ),
    ),
}
"""What an agent sends first, and a delta."""


@pytest.mark.parametrize("wire", WIRES)
def test_a_delta(wire: str) -> None:
    first, delta = WIRES[wire]
    dialect = DIALECTS[wire]
    turn = Turn(
        dialect.prompt(PromptRequest(text="hi", prompt_id="p")), Limits(), UIMessageStream()
    )
    turn.handle(Opened(), 0)
    for frame in first:
        turn.frames([frame], 0)
    written = turn.frames([delta], 0).to_client
    few = opcodes(lambda: turn.frames([delta] * FEW, 1))
    many = opcodes(lambda: turn.frames([delta] * MANY, 1))

    assert b"word " in written
    hold(f"{wire}: bytecodes a delta", (many - few) / (MANY - FEW))
