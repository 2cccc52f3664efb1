"""Where a connect hangs."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def hanging() -> Iterator[tuple[str, int]]:
    """The address of a listener that never accepts: its queue is full."""
    with ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)  # noqa: FBT003 (the library's signature)
            filler.connect_ex(full.getsockname())
        yield full.getsockname()
