"""The agent under test: where it is, as whom we talk, and what can be asked of it.

A `Bench` belongs to one run. It keeps the turns that several scenarios look at.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, TypeVar
from uuid import uuid4

from msgspec import Raw, Struct

from turnwire import __version__
from turnwire.config.effective import agent_auth, agent_request, history_keeper, session_url
from turnwire.config.headers import agent_headers, identity_headers
from turnwire.config.settings import Settings, variable
from turnwire.config.tls import agent_tls
from turnwire.conform.given import FailedError, Given, NotApplicableError, Shared
from turnwire.conform.play import Play
from turnwire.conform.traffic import Ping, Traffic, WatchedDialler
from turnwire.core.agent import AgentProtocol
from turnwire.core.body.conversation import Conversation, Text, UserMessage
from turnwire.core.connect import ConnectRequest
from turnwire.core.operations import Answered, History, Operation, OperationName, StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import (
    AgentSession,
    AnswerRequest,
    DialectOptions,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StopRequest,
)
from turnwire.core.session_group import Member, SessionGroups
from turnwire.core.steps import done
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.relay.agent.failures import DialFailure
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.agent_call import NotReachedError, OperationCall

CLOSING_S: Final = 0.6
"""Longest time until a connection that was closed is gone, in seconds."""
PING_EVERY_S: Final = 0.25
"""Between a pong and the next ping."""
HISTORY: Final = 20
"""Messages of the history that are read."""


ResultT = TypeVar("ResultT")


class Patience(Struct, frozen=True, kw_only=True):
    """How long is waited for what, in seconds."""

    dial_s: float = 10.0
    turn_s: float = 120.0
    """For the end of a turn, and longest silence."""
    greet_s: float = 2.0
    """For what the agent says before a prompt."""
    greet_most_s: float = 6.0
    """Until an agent counts as one that says nothing then."""
    abort_s: float = 1.0
    """For the end of a turn whose client hung up."""
    stop_s: float = 2.0
    """For the end of a turn that is stopped."""
    look_s: float = 10.0
    """How long is looked for what comes too late."""
    settle_s: float = 0.5
    """After the end of a turn, for what may still come."""
    idle_s: float = 330.0
    """The longest idle time of a proxy."""
    restart_s: float = 60.0
    """For an agent that is restarted."""
    pong_s: float = 5.0
    """For the answer to a ping."""
    heartbeat_s: float = 30.0
    """The longest time without one byte: half of what the least patient proxies allow."""


class Who(Struct, frozen=True, kw_only=True):
    """As whom the agent is asked, and in which session."""

    session_id: str
    user_id: str
    token: str = ""


class Bench:
    """The agent of these settings. `close` it."""

    def __init__(self, settings: Settings, given: Given, who: Who, patience: Patience) -> None:
        self.given = given
        self.patience = patience
        self.dialect = given.dialect
        self.turns = 0
        """Prompts sent."""
        self.has_greeting = True
        """False once it was seen that the agent says nothing before a prompt."""
        self.refusal: tuple[DialFailure, int | None] | None = None
        """Why the last connection failed that failed, and its HTTP status, if it had one."""
        self.was_reached = False
        """Whether the agent has accepted a connection. Then a refusal is a habit of its own."""
        self._settings = settings
        self._who = who
        self.tool_pings: list[Ping] = []
        """The pings that were sent during the turn with a tool, on a wire that has pings."""
        self._dialler = WatchedDialler(user_timeout_s=settings.stall_s, tls=agent_tls(settings))
        self._dialler.traffic = self._traffic = Traffic()
        self._transport = given.transport(self._dialler, frame_bytes=settings.frame_bytes)
        self._groups = SessionGroups()
        self._shared: dict[Shared, Play] = {}
        self._known: str | None = None
        """The agent's own id of our session, if it names its sessions."""

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

    def expect_greeting(self) -> None:
        """Check that the agent says something before a prompt, as far as is known.

        Raises:
            NotApplicableError: it does not.

        """
        if not self.has_greeting:
            raise NotApplicableError("this agent says nothing before a prompt")

    # Turns.

    async def shared(self, which: Shared) -> Play:
        """Return a turn that is played once, as it was some time after its end, if it has one."""
        if which not in self._shared:
            prompt: str = getattr(self.given.prompts, which.value)
            with self.playing(prompt) as play:
                self._shared[which] = play
                if which is Shared.TOOL and self.given.has_pings:
                    await self._ping_to_the_end(play)
                await play.to_end(self.patience.turn_s)
                await asyncio.sleep(self.patience.settle_s)
        play = self._shared[which]
        if play.refused is not None:
            self.refusal = play.refused
        return play

    async def _ping_to_the_end(self, play: Play) -> None:
        """Ping again and again while a turn runs: nobody knows when exactly its tool does."""
        loop, deadline = asyncio.get_running_loop(), play.began_at + self.patience.turn_s
        await play.until(lambda: play.is_over or play.opened_at is not None, self.patience.dial_s)
        while not play.is_over and loop.time() < deadline:
            if (ping := self._traffic.ping()) is None:
                return
            self.tool_pings.append(ping)
            await ping.wait(self.patience.pong_s)
            if ping.answered_at is None:
                return
            await play.to_end(PING_EVERY_S)

    def silence(self, play: Play) -> str | None:
        """Say how long not one byte came during a turn, if that was too long for some proxies."""
        until = asyncio.get_running_loop().time() if play.ended_at is None else play.ended_at
        silent_s = self._traffic.longest_silence_s(play.began_at, until)
        if silent_s <= self.patience.heartbeat_s:
            return None
        return f"not one byte came for {silent_s:.{0 if silent_s >= 1 else 1}f} s"

    def limit(self, *, in_a_tool: bool) -> tuple[float, str]:
        """Return how long a gateway waits for an event, in seconds, and the setting of that."""
        settings = self._settings
        if in_a_tool:
            return settings.tool_silence_s, variable("tool_silence_s")
        return settings.idle_s or self.dialect.idle_s, variable("idle_s")

    async def completed(self, prompt: str, what: str = "the turn") -> Play:
        """Play a turn to its end, and close it.

        Raises:
            FailedError: the agent did not complete it.

        """
        with self.playing(prompt) as play:
            await play.to_end(self.patience.turn_s)
        expect_completed(play, what)
        return play

    @contextmanager
    def playing(self, prompt: str) -> Iterator[Play]:
        """Send a prompt. The turn is closed at the end of the context."""
        self.turns += 1
        request = PromptRequest(
            **self._asking(),
            text=prompt,
            prompt_id=uuid4().hex,
            conversation=self._conversation(prompt),
        )
        with self._played(lambda member: self.dialect.prompt(request, member)) as play:
            yield play

    @contextmanager
    def resuming(self) -> Iterator[Play]:
        """Follow the turn that runs, as a client does that comes back."""
        request = ResumeRequest(**self._asking(), init_s=self.patience.greet_most_s)
        with self._played(lambda member: self.dialect.resume(request, member)) as play:
            yield play

    @contextmanager
    def _played(self, make: Callable[[Member], AgentProtocol]) -> Iterator[Play]:
        patience = self.patience
        limits = Limits(
            idle_s=patience.turn_s + patience.idle_s,
            tool_silence_s=patience.turn_s + patience.idle_s,
            hold_s=patience.dial_s,
            on_disconnect=DisconnectPolicy.ABORT,
        )
        with (
            self._groups.member(self._who.session_id) as member,
            self._dialler.budget.holder(self._who.user_id) as holder,
        ):
            play = Play(
                make(member),
                limits,
                transport=self._transport,
                target=self._target,
                holder=holder,
                can_pause=self._asks_in_new_requests,
            )
            member.on_change = play.wake
            try:
                play.begin(patience.dial_s)
                yield play
            finally:
                play.close()
                self.refusal = play.refused
                self.was_reached = self.was_reached or play.opened_at is not None

    @property
    def _asks_in_new_requests(self) -> bool:
        """Whether an answer to a question begins another request."""
        dialect = self.dialect
        return OperationName.ANSWER not in dialect.operations and not dialect.keeps_history

    # Operations.

    async def stop(self, turn_id: str | None) -> StopResult | Rejection:
        """Stop a turn beside its stream."""
        request = StopRequest(**self._operation(), turn_id=turn_id)
        return await self._call(self.dialect.stop(request))

    async def answer(self, question_id: str, answer: Raw) -> Answered | Rejection:
        """Answer a question beside its stream."""
        request = AnswerRequest(**self._operation(), reply=QuestionReply(question_id, answer))
        return await self._call(self.dialect.answer(request))

    async def history(self) -> History | Rejection:
        request = HistoryRequest(**self._operation(), limit=HISTORY)
        return await self._call(self.dialect.read_history(request))

    async def _call(self, operation: Operation[ResultT]) -> ResultT | Rejection:
        """Run an operation to its result.

        Raises:
            FailedError: the agent was not reached.

        """
        with self._dialler.budget.holder(self._who.user_id) as holder:
            call = OperationCall(operation, holder, self._dialler.rounds)
            target = self._target(operation.connect_request())
            try:
                return await call.run(self._transport, target, done, dial_s=self.patience.dial_s)
            except NotReachedError as exc:
                self.refusal = exc.why, exc.status
                raise FailedError(f"the connection was refused: {exc}") from exc

    # Requests.

    def _asking(self) -> dict[str, Any]:
        """Return the fields that all requests have."""
        settings = self._settings
        return {
            "user_id": self._who.user_id,
            "session_id": self._who.session_id,
            "options": DialectOptions(
                sends_history=history_keeper(settings) == "client",
                model=settings.agent_model,
                fields=agent_request(settings),
                cwd=settings.agent_cwd,
            ),
            "agent_session": AgentSession(
                known=self._known, keep=self._keep_session, forget=self._forget_session
            ),
        }

    def _operation(self) -> dict[str, Any]:
        patience = self.patience
        times = {"init_s": patience.greet_most_s, "verdict_s": patience.look_s}
        return self._asking() | times

    def _conversation(self, prompt: str) -> Conversation | None:
        """Return the conversation that such a prompt begins, for an agent that keeps none."""
        if self.dialect.keeps_history:
            return None
        message = UserMessage(uuid4().hex, (Text(prompt),))
        return Conversation([item for item in self.dialect.write_message(message) if item], {})

    def _target(self, connect: ConnectRequest) -> AgentTarget:
        who, settings = self._who, self._settings
        asker = identity_headers(settings, who.token, who.user_id)
        if not who.token and agent_auth(settings) == "forward":
            asker = {}  # the agent may trust everybody who reaches it
        headers = {
            **connect.headers,
            **agent_headers(settings),
            "user-agent": f"turnwire/{__version__}",
            "x-request-id": uuid4().hex,
            **asker,
        }
        return AgentTarget(
            session_url(settings, who.session_id, connect.path),
            headers,
            connect.method,
            connect.body,
            connect.offered_protocols,
            connect.accept,
        )

    def _keep_session(self, session_id: str) -> None:
        self._known = session_id

    def _forget_session(self) -> None:
        self._known = None


def expect_completed(play: Play, what: str = "the turn") -> None:
    """Check that the agent completed this turn.

    Raises:
        FailedError: it did not.

    """
    if not play.is_completed:
        raise FailedError(f"{what} {play.ending()}")


@asynccontextmanager
async def opened(
    settings: Settings, given: Given, who: Who, patience: Patience
) -> AsyncIterator[Bench]:
    """Open a bench for one run."""
    bench = Bench(settings, given, who, patience)
    try:
        yield bench
    finally:
        bench.close()
        # A closed connection waits a moment for the agent's close. It must not outlive the loop.
        await asyncio.sleep(CLOSING_S)
