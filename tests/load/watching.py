"""What a gateway holds, as its `/metrics` and the kernel say."""

from pathlib import Path
from typing import Final

from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families

from chaos.patience import told
from gateway.clients import new_client
from gateway.served import Served

KIB: Final = 1024
MIB: Final = 1024 * KIB


class Held(Struct, frozen=True, kw_only=True):
    """Of one process, at one moment."""

    rss_bytes: int
    descriptors: int
    sockets: int
    tasks: int
    streams: int

    @property
    def countable(self) -> tuple[int, int, int, int]:
        """What must be the same again when all is over."""
        return self.descriptors, self.sockets, self.tasks, self.streams

    def __str__(self) -> str:
        return (
            f"{self.rss_bytes / MIB:.1f} MiB, {self.descriptors} descriptors "
            f"({self.sockets} sockets), {self.tasks} tasks, {self.streams} streams"
        )


class Watched(Served):
    """A gateway with no caps, whose metrics are read."""

    async def counted(self, name: str) -> dict[str, int]:
        """A counter by its one label, "" where it has none."""
        async with new_client() as client:
            metrics = await client.get(f"http://{self.host}:{self._metrics_port}/metrics")
        return {
            next(iter(sample.labels.values()), ""): int(sample.value)
            for family in text_string_to_metric_families(metrics.text)
            for sample in family.samples
            if sample.name == name
        }

    async def held(self) -> Held:
        return Held(
            rss_bytes=self.rss_bytes,
            # Both with the one connection that asks, each time.
            descriptors=(await self.counted("process_open_fds"))[""],
            tasks=(await self.counted("turnwire_tasks"))[""],
            streams=(await self.counted("turnwire_streams_active"))[""],
            sockets=self._sockets(),
        )

    async def settled(self, at: Held, within_s: float = 30) -> Held:
        """Wait until it holds what it held before, but for memory."""
        now = at

        async def is_settled() -> bool:
            nonlocal now
            now = await self.held()
            return now.countable == at.countable

        try:
            await told(is_settled, within_s)
        except TimeoutError:
            raise AssertionError(f"it holds {now}, and held {at}") from None
        return now

    def _sockets(self) -> int:
        links = []
        for descriptor in Path(f"/proc/{self.pid}/fd").iterdir():
            try:
                links.append(str(descriptor.readlink()))
            except FileNotFoundError:  # closed meanwhile
                continue
        return sum(link.startswith("socket:") for link in links)
