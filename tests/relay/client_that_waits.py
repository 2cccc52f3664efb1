"""A client without sockets, which a writer writes to: it takes so much, and then waits."""

import asyncio

from turnwire.relay.client_writer import ClientWriter, Message


class Client:
    """Takes `room` messages, then waits."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.messages: list[Message] = []
        self._changed = asyncio.Event()

    def take(self, more: int) -> None:
        self.room += more
        self._changed.set()

    async def send(self, message: Message) -> None:
        while not self.room:
            self._changed.clear()
            await self._changed.wait()
        self.room -= 1
        self.messages.append(message)

    def has_taken(self, messages: int) -> bool:
        return len(self.messages) == messages

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)


class ClientEvents:
    """What happened to the flow, in order."""

    def __init__(self) -> None:
        self.events: list[str | int] = []

    def client_blocked(self) -> None:
        self.events.append("blocked")

    def client_progressed(self) -> None:
        self.events.append("progressed")

    def client_unblocked(self) -> None:
        self.events.append("unblocked")

    def client_held(self, held_bytes: int) -> None:
        self.events.append(held_bytes)

    def client_overflowed(self) -> None:
        self.events.append("overflowed")


class ShortWay:
    """A server's own ways to write a body, as far as it has them now."""

    def __init__(self, client: Client, *, head: bool, now: bool) -> None:
        self.first_data = b""
        self.is_first_last = self.is_ended = False
        self._client = client
        self._takes_along = head
        self._is_open = now

    async def start(self, message: Message) -> None:
        await self._client.send(message)
        if self._takes_along and message["type"] == "http.response.start":
            first, self.first_data = self.first_data, b""
            self.is_ended = self.is_first_last
            self._client.messages.append({"body": first})

    async def send(self, message: Message) -> None:
        assert not self.is_ended
        self.is_ended = not message["more_body"]
        await self._client.send(message)

    def write(self, data: bytes) -> bool:
        is_open = self._is_open and bool(self._client.messages)  # the head is out
        if is_open:
            self._client.messages.append({"body": data})
        return is_open

    def end(self, data: bytes) -> bool:
        self.is_ended = self.write(data)
        return self.is_ended


ALWAYS = 1_000


def writer(client: Client) -> tuple[ClientWriter, ClientEvents]:
    told = ClientEvents()
    return ClientWriter(client.send, [(b"a", b"b")], told), told
