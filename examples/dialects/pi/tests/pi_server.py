"""A server that plays pi behind a bridge: each text frame is a line.

Each connection has a process of its own, or all of them share one, whose lines go to everybody.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition, Event, Thread
from typing import Any, Final

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from lines import SYSTEM, Json, Lines, encode, state

PATIENCE_S: Final = 30.0
FILE: Final = "/home/pi/sessions/2026_0.jsonl"


class Run(Lines):
    """What one prompt does, as its script sees it. Lines are sent as they are made."""

    def __init__(self, process: "Process", command: Json) -> None:
        super().__init__(command["id"])
        self.process = process
        self.command = command
        self.prompt: str = command["message"]

    def event(self, kind: str, **fields: Any) -> None:
        self.process.send(encode({"type": kind, **fields}))

    def answered(self, question_id: str) -> Json:
        """Wait for the answer to a question."""
        return self.process.server.command("extension_ui_response", id=question_id)

    def aborted(self) -> None:
        """Wait for an abort."""
        assert self.process.aborted.wait(PATIENCE_S), "no abort came"


Script = Callable[[Run], None]
Taking = Callable[["Process", Json], bool]


class Process:
    """One pi. It runs a prompt at a time, and those that wait behind it in the same run."""

    def __init__(self, server: "PiServer") -> None:
        self.server = server
        self.sockets: list[ServerConnection] = []
        self.file = FILE
        self.messages = 0
        self.aborted = Event()
        self.queue: list[Json] = []
        self.has_settled = False
        """Whether a script told the end itself."""
        self._is_busy = False
        self._abort: Json | None = None

    def send(self, line: bytes) -> None:
        """Send a line to all who are connected."""
        for socket in list(self.sockets):
            with suppress(ConnectionClosed):
                socket.send(line.decode())

    def take(self, command: Json) -> None:
        """Do what a command says, as pi does."""
        match command["type"]:
            case "get_state":
                busy = {"isStreaming": self._is_busy, "pendingMessageCount": len(self.queue)}
                current = state(sessionFile=self.file, messageCount=self.messages, **busy)
                self.respond(command, data=current)
            case "switch_session":
                self.file = command["sessionPath"]
                self.messages = self.server.sessions.get(self.file, 0)
                self.respond(command, data={"cancelled": False})
            case "prompt" if self._is_busy:
                self.queue.append(command)
                self.tell_queue()
                self.respond(command)
            case "prompt":
                self._is_busy = True
                self.aborted.clear()
                self.respond(command)
                Thread(target=self._play, args=[command], daemon=True).start()
            case "clear_queue":
                self.queue.clear()
                self.tell_queue()
                self.respond(command)
            case "abort":
                self._abort = command
                self.aborted.set()
            case _:
                pass

    def tell_queue(self) -> None:
        waiting = [each["message"] for each in self.queue]
        self.send(encode({"type": "queue_update", "steering": [], "followUp": waiting}))

    def respond(self, command: Json, **fields: Any) -> None:
        answer = {"id": command["id"], "type": "response", "command": command["type"]}
        self.send(encode({**answer, "success": True, **fields}))

    def _play(self, command: Json) -> None:
        while True:
            try:
                self.server.script(Run(self, command))
            except BaseException as exc:  # noqa: BLE001 (the test shows it)
                self.server.failures.append(exc)
            self.messages += 2
            self.server.sessions[self.file] = self.messages
            if not self.queue:
                break
            command = self.queue.pop(0)
            self.tell_queue()
        self._is_busy = False
        if not self.has_settled:
            self.send(encode({"type": "agent_end", "messages": [SYSTEM], "willRetry": False}))
            self.send(encode({"type": "agent_settled"}))
        if self._abort is not None:
            self.respond(self._abort)


class PiServer:
    """The server. `script` is what each prompt does; `commands` are those that came."""

    def __init__(self, *, is_shared: bool = False) -> None:
        self.script: Script = lambda _: None
        self.taking: Taking = lambda _process, _command: False
        """Takes commands instead of the process, if it returns True."""
        self.commands: list[Json] = []
        self.failures: list[BaseException] = []
        self.sessions: dict[str, int] = {}
        """How many messages each session file has."""
        self.processes: list[Process] = []
        self._shared = Process(self) if is_shared else None
        self._changed = Condition()
        self._open = 0
        self._server = serve(self._converse, "127.0.0.1", 0, max_size=None)
        self.port = self._server.socket.getsockname()[1]
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()

    @contextmanager
    def playing(self, script: Script, taking: Taking | None = None) -> Iterator[None]:
        """Let the prompts do this. Afterwards nobody is connected any more."""
        self.script, self.commands, self.failures, self.processes = script, [], [], []
        self.taking = taking or (lambda _process, _command: False)
        yield
        self.wait(lambda: not self._open)
        assert not self.failures, self.failures

    def wait(self, fact: Callable[[], object]) -> None:
        """Wait until something is so."""
        with self._changed:
            assert self._changed.wait_for(fact, PATIENCE_S), f"it did not come: {self.commands}"

    def sent(self, kind: str, **fields: Any) -> list[Json]:
        """Return the commands with these fields that came."""
        wanted = {"type": kind, **fields}
        return [each for each in self.commands if wanted.items() <= each.items()]

    def command(self, kind: str, **fields: Any) -> Json:
        """Wait for a command with these fields."""
        self.wait(lambda: self.sent(kind, **fields))
        return self.sent(kind, **fields)[0]

    def _converse(self, socket: ServerConnection) -> None:
        process = self._shared or Process(self)
        with self._changed:
            self._open += 1
            process.sockets.append(socket)
            self.processes.append(process)
            self._changed.notify_all()
        with suppress(ConnectionClosed):
            for text in socket:
                command = json.loads(text)
                with self._changed:
                    self.commands.append(command)
                    self._changed.notify_all()
                if not self.taking(process, command):
                    process.take(command)
        with self._changed:
            self._open -= 1
            process.sockets.remove(socket)
            process.aborted.set()
            self._changed.notify_all()


def pause(seconds: float = 0.2) -> None:
    """Give a line time to arrive, where nothing is to come of it, or a time limit time to pass."""
    time.sleep(seconds)
