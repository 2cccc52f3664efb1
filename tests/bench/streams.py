"""Bodies of responses, right and wrong, and a server that gives them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from turnwire_lab.bench.load import Plan

PLAN: Final = Plan(deltas=3, size=24)
TIME: Final = f"{123_456:016x}"


def delta(number: int, *, size: int = PLAN.size) -> str:
    return f"T{TIME}{number & 0xFFF:03x}".ljust(size, "a")


def record(text: str) -> str:
    return f'event: text-delta\ndata: {{"type":"text-delta","id":"t","delta":"{text}"}}\n\n'


def frame(text: str) -> str:
    return f'{{"type":"message.part.text-delta","turnId":"t","delta":"{text}"}}'


START: Final = 'data: {"type":"start","messageId":"t"}\n\n'
STEP: Final = 'data: {"type":"finish-step"}\n\n'
FINISH: Final = 'event: message-finish\ndata: {"type":"finish"}\n\n'
DONE: Final = "data: [DONE]\n\n"
DELTAS: Final = [record(delta(number)) for number in range(PLAN.deltas)]
ALL: Final = "".join(DELTAS)
TOOL: Final = 'data: {"type":"tool-output-available","toolCallId":"c"}\n\n'

RIGHT: Final = START + ALL + STEP + FINISH + DONE
WRONG: Final = {
    "deltas are missing, or too many": START + "".join(DELTAS[:2]) + FINISH + DONE,
    "out of order": START + DELTAS[1] + DELTAS[0] + DELTAS[2] + FINISH + DONE,
    "a delta is cut or merged": START + record(delta(0)[:-1]) + ALL + FINISH + DONE,
    "a delta behind the end": START + "".join(DELTAS[:2]) + FINISH + DELTAS[2] + DONE,
    "no finish": START + ALL + STEP + DONE,
    "no [DONE]": START + ALL + FINISH,
    "two ends": START + ALL + FINISH + FINISH + DONE,
    "a record behind [DONE]": START + ALL + FINISH + DONE + STEP,
    "an error": START + ALL + 'data: {"type":"error","errorText":"x"}\n\n' + FINISH + DONE,
    "tools are missing": START + ALL + TOOL + FINISH + DONE,
}
FRAMES: Final = (
    "".join(frame(delta(number)) for number in range(PLAN.deltas)) + '{"type":"message.finalize"}'
)


def response(body: str, *, piece: int = 7) -> bytes:
    """An HTTP response in chunks that end anywhere."""
    data = body.encode()
    parts = [data[at : at + piece] for at in range(0, len(data), piece)]
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@asynccontextmanager
async def served(answer: Callable[[], bytes]) -> AsyncIterator[int]:
    """A server that says this to everybody, in pieces, on the port that is given."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split()[0])
            await reader.readexactly(length)
            said = answer()
            for at in range(0, len(said), 50):
                writer.write(said[at : at + 50])
                await writer.drain()
                await asyncio.sleep(0)
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
