"""One life of a session whose agent dies or is stopped, and another agent that goes on."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from websockets.exceptions import ConnectionClosed

from runtime.host.hosted import Frame, Socket
from runtime.kill.heard import is_in_flight, is_over, open_questions, turns
from runtime.kill.mortal import LEASE_S, Death
from runtime.kill.scene import Scene
from runtime.kill.zygote import PATIENCE_S, AgentProcess, Zygote
from turnwire_agent.host.server import NOT_KEPT

LAST = "last"
"""The prompt that comes when all is over: a session stays usable."""


class Story:
    """A session from its first prompt to its last one."""

    def __init__(
        self, zygote: Zygote, provider: str, folder: Path, journal: str, session: str
    ) -> None:
        self._zygote = zygote
        self._provider = provider
        self._folder = folder
        self.journal = journal
        self.session = session
        self.world = folder / f"{session}.world"
        self.told: list[list[Frame]] = []
        """The frames of each socket: first agent, second agent, and where each stands at last."""
        self.agents: list[AgentProcess] = []
        self.was_blocked = False
        """Whether nobody could go on before the first agent did."""

    async def live(self, scene: Scene, death: Death) -> None:
        """Ask, see the agent die, follow the turns at the next one, and ask for something else."""
        try:
            first = await self._agent(death)
            second = await self._agent(Death()) if death.stops else None
            await self._begin(scene, first)
            if not death.stops:
                first.signal(signal.SIGKILL)
            await self._go_on(scene, second or await self._agent(Death()))
            if death.stops:
                await self._wake(first)
        finally:
            for agent in self.agents:
                agent.signal(signal.SIGKILL)

    async def _begin(self, scene: Scene, first: AgentProcess) -> None:
        async with self._socket(first) as socket:
            following = asyncio.create_task(self._converse(scene, socket, first))
            gone = asyncio.create_task(first.gone())
            await asyncio.wait([following, gone], return_when=asyncio.FIRST_COMPLETED)
            for task in (following, gone):
                task.cancel()
            await asyncio.gather(following, gone, return_exceptions=True)
            if following.done() and not following.cancelled():
                following.result()

    async def _converse(self, scene: Scene, socket: Socket, first: AgentProcess) -> None:
        with suppress(ConnectionClosed):
            for content, prompt_id in zip(scene.prompts, scene.ids, strict=True):
                await socket.ask(content, prompt_id)
            await self._follow(scene, socket, first)

    async def _go_on(self, scene: Scene, second: AgentProcess) -> None:
        """Where the store is not there for a moment, a client comes again."""
        async with asyncio.timeout(PATIENCE_S):
            while not await self._ask_again(scene, second):
                self.told.pop()
        async with self._socket(second):
            pass

    async def _ask_again(self, scene: Scene, second: AgentProcess) -> bool:
        """Returns whether all was answered."""
        with suppress(ConnectionClosed):
            async with self._socket(second) as socket:
                for content, prompt_id in zip(scene.prompts, scene.ids, strict=True):
                    if prompt_id not in turns(socket.seen[0]):
                        # Its client does not know whether it was taken, and uses the same id.
                        await socket.ask(content, prompt_id)
                await self._follow(scene, socket)
                await socket.ask("hello", LAST)
                await self._until_over(socket, LAST)
                return True
        return False

    async def _follow(self, scene: Scene, socket: Socket, dies: AgentProcess | None = None) -> None:
        """Until all turns are over. Answer whoever asks, and stop what is to be stopped."""
        answered: set[str] = set()
        stopped = False
        async with asyncio.timeout(PATIENCE_S):
            while not all(is_over(socket.seen, prompt_id) for prompt_id in scene.ids):
                for question in open_questions(socket.seen):
                    if dies and scene.ends_at_question:
                        await asyncio.sleep(LEASE_S / 2)
                        dies.signal(signal.SIGKILL)
                    elif question not in answered:
                        answered.add(question)
                        await socket.send("answer", questionId=question, answer=scene.answer)
                if scene.stops and not stopped and is_in_flight(socket.seen):
                    stopped = True
                    await socket.send("abort", promptId=scene.ids[0])
                await self._hear(socket)

    async def _until_over(self, socket: Socket, prompt_id: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not is_over(socket.seen, prompt_id):
                await self._hear(socket)

    async def _hear(self, socket: Socket) -> None:
        """The next frame. An agent that was stopped in the middle of a write to SQLite goes on."""
        may_be_blocked = len(self.told) > 1 and self.journal.startswith("sqlite:")
        try:
            async with asyncio.timeout(10 * LEASE_S if may_be_blocked else PATIENCE_S):
                await socket.next()
        except TimeoutError:
            if not may_be_blocked:
                raise
            self.was_blocked = True
            self.agents[0].signal(signal.SIGCONT)
        else:
            if socket.seen[-1].get("error") == NOT_KEPT:
                await socket.connection.close()

    async def _wake(self, first: AgentProcess) -> None:
        """Let it go on: it finds that the session is not its own any more, and reads what came."""
        waking = asyncio.create_task(_keep_going(first))
        try:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    async with self._socket(first) as socket:
                        if LAST in turns(socket.seen[0]):
                            return
                    await asyncio.sleep(0.05)
        finally:
            waking.cancel()

    async def _agent(self, death: Death) -> AgentProcess:
        report = self._folder / f"{self.session}.report-{len(self.agents)}"
        agent = await self._zygote.fork(self.journal, self._provider, self.world, report, death)
        self.agents.append(agent)
        return agent

    @asynccontextmanager
    async def _socket(self, agent: AgentProcess) -> AsyncIterator[Socket]:
        async with agent.host.socket(self.session) as socket:
            self.told.append(socket.seen)
            yield socket


async def _keep_going(agent: AgentProcess) -> None:
    """Wake it again and again: it may come to where it is to stop only now."""
    while True:
        agent.signal(signal.SIGCONT)
        await asyncio.sleep(0.2)
