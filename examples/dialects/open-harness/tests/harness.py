"""A server that follows the January wire: one socket for everybody, and no greeting.

It sends each event to all who are connected. Its `abort` names no run, and stops all of them.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from typing import Any, Final

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

Json = dict[str, Any]
PATIENCE_S: Final = 30.0


class Run:
    """A run of the flow, as its script sees it."""

    def __init__(self, server: "Harness", run_id: str, message: str) -> None:
        self.server = server
        self.run_id = run_id
        self.message = message

    def emit(self, kind: str, node: str = "writer", **fields: Any) -> None:
        """Tell everybody of an event of this run."""
        self.server.emit(kind, nodeId=node, runId=self.run_id, **fields)

    def begin(self) -> None:
        self.emit("flow:start", flowName="report")

    def complete(self) -> None:
        self.emit("flow:complete", flowName="report", status="complete")

    def tell(self, *deltas: str, node: str = "writer") -> None:
        """Tell a text as the server's agents do: in deltas, and then the whole of it."""
        for delta in deltas:
            self.emit("agent:text:delta", node, content=delta)
        self.emit("agent:text", node, content="".join(deltas))

    def call(self, tool: str, node: str = "writer", **fields: Any) -> None:
        """Tell of a call that has run."""
        self.emit("agent:tool", node, toolName=tool, **fields)

    def reply(self) -> Json:
        """Wait for the user's message to this run."""
        return self.server.command("reply", runId=self.run_id)


Script = Callable[[Run], None]


class Harness:
    """The server. `script` is what each run does; `commands` are those that came."""

    def __init__(self) -> None:
        self.script: Script = lambda _: None
        self.commands: list[Json] = []
        self.failures: list[BaseException] = []
        self._changed = Condition()
        self.sockets: list[ServerConnection] = []
        self._server = serve(self._converse, "127.0.0.1", 0, process_request=_admit)
        self.port = self._server.socket.getsockname()[1]
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()

    def cut(self) -> None:
        """Leave everybody."""
        for socket in list(self.sockets):
            socket.close()

    @contextmanager
    def playing(self, script: Script) -> Iterator[None]:
        """Let the runs do this. Afterwards nobody is connected any more."""
        self.script, self.commands, self.failures = script, [], []
        yield
        self.wait(lambda: not self.sockets)
        assert not self.failures, self.failures

    def emit(self, kind: str, **fields: Any) -> None:
        """Send an event to everybody."""
        event = {"type": kind, **fields, "timestamp": 1_767_300_000_000}
        self.send({"type": "event", "event": event})

    def send(self, frame: Json) -> None:
        """Send any frame to everybody."""
        for socket in list(self.sockets):
            with suppress(ConnectionClosed):
                socket.send(json.dumps(frame))

    def wait(self, fact: Callable[[], object]) -> None:
        """Wait until something is so."""
        with self._changed:
            assert self._changed.wait_for(fact, PATIENCE_S), "it did not come"

    def command(self, kind: str, **fields: Any) -> Json:
        """Wait for a command with these fields."""
        wanted = {"type": kind, **fields}

        def found() -> list[Json]:
            return [each for each in self.commands if wanted.items() <= each.items()]

        self.wait(found)
        return found()[0]

    def _converse(self, socket: ServerConnection) -> None:
        with self._changed:
            self.sockets.append(socket)
        with suppress(ConnectionClosed):
            for text in socket:
                frame = json.loads(text)
                if frame["type"] == "command":  # anything else is ignored in silence
                    self._take(frame["command"])
        with self._changed:
            self.sockets.remove(socket)
            self._changed.notify_all()

    def _take(self, command: Json) -> None:
        with self._changed:
            self.commands.append(command)
            self._changed.notify_all()
        if command["type"] == "send":
            run = Run(self, command["runId"], command["message"])
            Thread(target=self._play, args=[run], daemon=True).start()

    def _play(self, run: Run) -> None:
        try:
            self.script(run)
        except BaseException as exc:  # noqa: BLE001 (the test shows it)
            self.failures.append(exc)


def _admit(connection: ServerConnection, request: Request) -> Response | None:
    return None if request.path.partition("?")[0] == "/ws" else connection.respond(404, "no\n")


def pause() -> None:
    """Give a frame time to arrive, where nothing is to come of it."""
    time.sleep(0.2)
