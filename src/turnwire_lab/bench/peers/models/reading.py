"""Reads an answer of a model each time that it is told to, with the library that it is told.

`python reading.py MODULE URL`, in any environment; MODULE is beside this file. Each line that comes
is JSON: the wire, and the prompt. Each line that goes tells what was read. It is run by its path,
since the environments of peers have nothing of ours.
"""

import asyncio
import importlib
import json
import sys
from collections.abc import Awaitable, Callable

Read = Callable[[str, str, str, Callable[[str], None]], Awaitable[None]]
"""The server's URL, the wire, the prompt, and who hears each piece of the text.

It returns when the answer is over, and raises if it is not whole.
"""


async def serve(read: Read, url: str) -> None:
    """All calls have one event loop, so that a client's connection lasts."""
    for line in sys.stdin:
        asked = json.loads(line)
        pieces: list[str] = []
        await read(url, asked["wire"], asked["prompt"], pieces.append)
        text = "".join(pieces)
        print(json.dumps({"pieces": len(pieces), "text": text}), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(importlib.import_module(sys.argv[1]).read, sys.argv[2]))
