"""A thread for what blocks."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class OwnThread:
    """Runs functions one after another on one thread, which starts with the first.

    Not the default executor of asyncio: tools that block could take all of its threads, and no
    model could be asked any more.
    """

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the call. It runs to its end even if its caller is cancelled."""
        return await asyncio.shield(
            asyncio.wrap_future(self._executor.submit(call, *args, **kwargs))
        )
