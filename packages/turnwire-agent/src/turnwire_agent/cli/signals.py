"""How a server hears that it is to stop."""

import asyncio
import signal


def stopped_by_signals() -> asyncio.Event:
    """Set by the first SIGTERM or SIGINT. A second one ends the process at once."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop(signal_: signal.Signals) -> None:
        stopping.set()
        loop.remove_signal_handler(signal_)

    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop, each)
    return stopping
