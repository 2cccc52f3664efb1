"""The gateway as its operator starts it, and a client of it."""

import json
import os
import queue
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from types import TracebackType
from typing import Any, Final, Self

import httpx
import jwt

Json = dict[str, Any]
KEY: Final = "a-key-for-tests-of-32-bytes-at-least!"
PATIENCE_S: Final = 30.0
_ENDED: Final = "the process ended"


class Stream:
    """One turn, read as it comes."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.iter_lines()
        self.chunks: list[Json] = []
        self.ends = False

    def read(self, kind: str | None = None) -> Self:
        """Read to the first chunk of this type, or to the end."""
        for line in self._lines:
            if line == "data: [DONE]":
                self.ends = True
            elif line.startswith("data: "):
                self.chunks.append(json.loads(line.removeprefix("data: ")))
                if self.chunks[-1]["type"] == kind:
                    return self
        assert kind is None, f"no {kind} came: {self.types}"
        return self

    def of(self, *kinds: str) -> list[Json]:
        return [chunk for chunk in self.chunks if chunk["type"] in kinds]

    @property
    def types(self) -> list[str]:
        return [chunk["type"] for chunk in self.chunks]

    @property
    def text(self) -> str:
        return "".join(chunk["delta"] for chunk in self.of("text-delta"))

    @property
    def is_whole(self) -> bool:
        """Whether it ended well, once."""
        is_last = self.types[-1:] == ["finish"] and self.types.count("finish") == 1
        return self.ends and is_last and not self.of("error", "abort")

    @property
    def cards(self) -> dict[str, Json]:
        """The cards of tools, by id: what the chunks of each say, one over the other."""
        cards: dict[str, Json] = {}
        for chunk in self.chunks:
            if chunk["type"].startswith("tool-"):
                cards.setdefault(chunk["toolCallId"], {}).update(chunk)
        return cards


class Gateway:
    """`turnwire serve`, in a process of its own."""

    def __init__(self, agent_port: int, dialect: str, **settings: str) -> None:
        values = {
            "enabled": "true",
            "dialect": dialect,
            "agent_url": f"ws://127.0.0.1:{agent_port}/?session={{session_id}}",
            "jwt_key": KEY,
            "port": "0",
            "metrics_port": "0",
            "lag_s": "0",
            "on_disconnect": "abort",
            "usage": "true",
            **settings,
        }
        environ = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "turnwire", "serve"],
            env=environ | {f"TURNWIRE_{name.upper()}": value for name, value in values.items()},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log: list[Json] = []
        self._new: queue.Queue[Json] = queue.Queue()
        self._reading = Thread(target=self._read, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/api/sessions/s1"

    def logged(self, event: str, word: str = "") -> Json:
        """Wait for the next line of the log about this, with this word in it."""
        while True:
            line = self._new.get(timeout=PATIENCE_S)
            if line["event"] == event and word in json.dumps(line):
                return line
            assert line["event"] != _ENDED, self.log

    @contextmanager
    def chatting(
        self,
        text: str = "Read the notes.",
        *,
        thread: str = "t1",
        earlier: Sequence[Json] = (),
        files: Sequence[Json] = (),
    ) -> Iterator[Stream]:
        """A turn that is read along. Its client hangs up with the block."""
        parts = [{"type": "text", "text": text}, *files]
        message = {"id": "m1", "role": "user", "parts": parts}
        body = {"id": "chat-1", "trigger": "submit-message", "messages": [*earlier, message]}
        with (
            httpx.Client(trust_env=False, timeout=PATIENCE_S) as client,
            client.stream(
                "POST",
                f"{self.url}/chat",
                params={"threadId": thread},
                json=body,
                headers=_bearer(),
            ) as response,
        ):
            assert response.status_code == httpx.codes.OK, response.read()
            yield Stream(response)

    def turn(self, text: str = "Read the notes.", **more: Any) -> Stream:
        """One turn, read to its end."""
        with self.chatting(text, **more) as stream:
            return stream.read()

    def stop(self) -> httpx.Response:
        """Stop the turn that runs."""
        with httpx.Client(trust_env=False, timeout=PATIENCE_S) as client:
            return client.post(
                f"{self.url}/stop", params={"threadId": "t1"}, json={}, headers=_bearer()
            )

    def answer(self, question_id: str, answer: Any) -> httpx.Response:
        """Answer a question of the turn that waits."""
        body = {"questionId": question_id, "answer": answer, "id": "chat-1"}
        with httpx.Client(trust_env=False, timeout=PATIENCE_S) as client:
            return client.post(
                f"{self.url}/answer", params={"threadId": "t1"}, json=body, headers=_bearer()
            )

    def __enter__(self) -> Self:
        self._reading.start()
        try:
            self._port = self.logged("listening")["port"]
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        self._reading.join()
        assert self._process.stderr is not None
        self._process.stderr.close()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            entry = json.loads(line) if line.startswith("{") else {"event": line}
            self.log.append(entry)
            self._new.put(entry)
        self._new.put({"event": _ENDED})


def _bearer() -> dict[str, str]:
    claims = {"sub": "u1", "exp": 4_102_444_800, "sessions": {"*": "collaborator"}}
    return {"authorization": f"Bearer {jwt.encode(claims, KEY, 'HS256')}"}
