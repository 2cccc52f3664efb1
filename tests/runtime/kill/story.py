"""One life of a session whose agent dies, and what must be true of it whatever happened."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Self

from websockets.exceptions import ConnectionClosed

from runtime.host.hosted import Frame, Hosted, Socket
from runtime.kill.mortal import LEASE_S, Death
from runtime.kill.provider import WORDS
from runtime.kill.world import acts
from turnwire_lab.process import free_port

TESTS = Path(__file__).parents[2]
PATIENCE_S = 20.0


class Zygote:
    """A process that has imported the agent, and forks it in a moment."""

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "runtime.kill.mortal",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=TESTS,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._process.kill()
        await self._process.wait()

    async def fork(
        self, journal: str, provider: str, world: Path, report: Path, death: Death
    ) -> tuple[int, int]:
        """Start an agent; return its port and its process id."""
        assert self._process.stdin
        assert self._process.stdout
        port = free_port()
        arguments = {
            "run": [port, journal, provider, str(world), str(report)],
            "death": asdict(death),
        }
        self._process.stdin.write(json.dumps(arguments).encode() + b"\n")
        await self._process.stdin.drain()
        async with asyncio.timeout(PATIENCE_S):
            line = await self._process.stdout.readline()
        return port, int(line.split()[1])


def text_of(frames: list[Frame]) -> str:
    """All text of a turn that a socket was sent, that of lost attempts too."""
    parts = entry_parts(frames[0]) if frames and frames[0]["type"] == "init" else []
    words = [part["text"] for part in parts if part["type"] == "text"]
    words += [each["delta"] for each in frames if each["type"] == "message.part.text-delta"]
    return "".join(words)


def entry_parts(init: Frame) -> list[Frame]:
    """The parts of the turn that runs, by an `init`."""
    running = init["data"].get("runningTurnId")
    entries = {each["id"]: each for each in init["session"]["messages"]}
    parts: list[Frame] = entries[running]["parts"] if running else []
    return parts


class Story:
    """A session from its first prompt to the next one, and the death of its agent in between."""

    def __init__(
        self, zygote: Zygote, provider: str, folder: Path, journal: str, session: str
    ) -> None:
        self._zygote = zygote
        self._provider = provider
        self._journal = journal
        self._session = session
        self.world = folder / f"{session}.world"
        self._report = folder / f"{session}.report"
        self.told: list[list[Frame]] = []
        """The frames of each socket."""
        self.died = False
        """Whether the client saw it."""
        self._pids: list[int] = []

    async def live(self, prompt: str, death: Death) -> None:
        """Ask, see the agent die, follow the turn at the next one, and ask for something else."""
        try:
            first = await self._agent(death)
            async with self._socket(first) as socket:
                with suppress(ConnectionClosed):
                    await socket.ask(prompt)
                    await self._follow(socket)
            self.died = not is_over(self.told[0])
            with suppress(ProcessLookupError):
                os.kill(self._pids[0], signal.SIGKILL)
            await self._go_on(prompt, await self._agent(Death()))
        finally:
            for pid in self._pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def counted(self) -> tuple[int, int]:
        """How many transactions and how many rounds of its loop the first agent had."""
        commits, rounds = self._report.read_text().split()[:2]
        return int(commits), int(rounds)

    async def _go_on(self, prompt: str, second: Hosted) -> None:
        async with self._socket(second) as socket:
            if not await self._knows_the_prompt(socket):
                # It was never committed, and so nothing of it was told: its client asks again.
                assert not any(each["type"] == "message.create" for each in self.told[0])
                await socket.ask(prompt)
            await self._follow(socket)
            frames = await socket.turn("hello", "p2")
            assert frames[-2]["reason"] == "end_turn"
        async with self._socket(second):
            pass

    async def _knows_the_prompt(self, socket: Socket) -> bool:
        if socket.seen[0]["session"]["messages"]:
            return True
        try:
            async with asyncio.timeout(4 * LEASE_S):
                await socket.until("message.create", promptId="p1")
        except TimeoutError:
            return False
        return True

    async def _follow(self, socket: Socket) -> None:
        """Until the turn of `p1` is over. Whoever asks is answered: yes."""
        answered: set[str] = set()
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for question in open_questions(socket.seen):
                    if question not in answered:
                        answered.add(question)
                        await socket.send("answer", questionId=question, answer=True)
                if is_over(socket.seen):
                    return
                await socket.next()

    async def _agent(self, death: Death) -> Hosted:
        port, pid = await self._zygote.fork(
            self._journal, self._provider, self.world, self._report, death
        )
        self._pids.append(pid)
        return Hosted(port, None)  # type: ignore[arg-type] # it is in another process

    @asynccontextmanager
    async def _socket(self, host: Hosted) -> AsyncIterator[Socket]:
        async with host.socket(self._session) as socket:
            self.told.append(socket.seen)
            yield socket

    # --- what must be true --------------------------------------------------------------------

    def judge(self, wanted: list[str]) -> None:
        """Check all that is promised.

        Args:
            wanted: The tools of each step, joined by `+`.
        """
        entries = self.told[-1][0]["session"]["messages"]
        turns = [each for each in entries if each["role"] == "assistant"]
        assert len(turns) == 2, "a turn is doubled or lost"
        turn = turns[0]
        assert turn["parts"][-1] == {"type": "finish", "reason": "end_turn"}
        ids = {
            each["turnId"]
            for frames in self.told
            for each in frames
            if each["type"] == "message.create" and each["promptId"] == "p1"
        }
        assert ids <= {turn["id"]}, "another turn answers the prompt"
        text = "".join(part["text"] for part in turn["parts"] if part["type"] == "text")
        steps = "".join(f"Step {number}. " for number in range(len(wanted)))
        assert text == steps + "".join(WORDS), "text is lost or doubled"
        self._judge_calls(turn, [name for step in wanted for name in step.split("+")])
        if self.told[1][0]["data"].get("runningTurnId"):
            assert text_of(self.told[1]).startswith(text_of(self.told[0])), "told, and gone"

    def _judge_calls(self, turn: Frame, wanted: list[str]) -> None:
        calls = [part for part in turn["parts"] if part["type"] == "tool-call"]
        assert [call["toolName"] for call in calls] == wanted
        done = acts(self.world)
        keys = {(name, key) for name, key in done}
        for name in ("pay", "mail", "erase", "read"):
            ours = [call for call in calls if call["toolName"] == name]
            completed = [call for call in ours if call["status"] == "completed"]
            assert all(call["status"] in {"completed", "error"} for call in ours)
            runs = [key for each, key in done if each == name]
            if name in {"mail", "erase"}:
                assert len(runs) == len(set(runs)), f"{name} was done twice"
                assert len(completed) <= len(runs) <= len(ours), f"{name} is lost without a word"
            else:
                assert len(completed) == len(ours), f"{name} may run again, and has no outcome"
                assert len({key for each, key in keys if each == name}) == len(ours)


def is_over(frames: list[Frame]) -> bool:
    """Whether a socket has heard of the end of the turn of `p1`."""
    if any(each["type"] == "complete" and each.get("promptId") == "p1" for each in frames):
        return True
    if not frames or frames[0]["type"] != "init":
        return False
    entries = frames[0]["session"]["messages"]
    return any(
        each["role"] == "assistant"
        and each.get("promptId") == "p1"
        and each["parts"]
        and each["parts"][-1]["type"] == "finish"
        for each in entries
    )


def open_questions(frames: list[Frame]) -> list[str]:
    """The questions that wait, as far as a socket knows."""
    asked = [each["questionId"] for each in frames if each["type"] == "question"]
    if frames and frames[0]["type"] == "init":
        asked += [
            part["questionId"]
            for part in entry_parts(frames[0])
            if part["type"] == "question" and "answer" not in part and not part.get("expired")
        ]
    closed = {
        each["questionId"]
        for each in frames
        if each["type"] in {"question.resolved", "question.expired"}
    }
    return [each for each in asked if each not in closed]
