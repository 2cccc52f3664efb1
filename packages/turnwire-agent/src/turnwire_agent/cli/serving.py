"""An agent as a running server: settings in, a socket that listens out."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from prometheus_client import start_http_server

import turnwire_agent
from turnwire_agent import metrics
from turnwire_agent.access.access import Access
from turnwire_agent.access.listening import BadAddressError, CannotListenError, listener
from turnwire_agent.cli.access_arguments import NoTokensError
from turnwire_agent.cli.agent.parts import (
    CannotServeError,
    metrics_place,
    model_of,
    secrets_of,
    servers_of,
    tokens_of,
    tools_of,
    unopened_journal,
)
from turnwire_agent.cli.arguments import UsageError
from turnwire_agent.drivers.answers import Answers, ProviderAnswers
from turnwire_agent.drivers.model import ModelDriver
from turnwire_agent.host.driver import Driver
from turnwire_agent.host.replica import Replica
from turnwire_agent.host.server import HostServer
from turnwire_agent.journal.port import NewerSchemaError, UnavailableError
from turnwire_agent.llm.call.http import Client, http_client
from turnwire_agent.llm.call.stream import CallSettings
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.loop.agent import Agent as Asking
from turnwire_agent.mcp.errors import MissingLibraryError
from turnwire_agent.settings import Agent
from turnwire_agent.tools.contract import Tools
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread
from turnwire_agent.v2.frames import Frames


@asynccontextmanager
async def served(agent: Agent) -> AsyncIterator[tuple[str, int]]:
    """Serve an agent; return the host and the port where it listens.

    Raises:
        CannotServeError: something that it needs is not there.
        UsageError: its settings do not fit together, or one of them is wrong.

    """
    metrics_at = metrics_place(agent.metrics) if agent.metrics else None
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(http_client(trust_env=agent.trust_env))
            good = await tokens_of(agent, client)
            own, _ = await tools_of(agent, stack)
            driver = agent.driver or await _model_driver(agent, own, client, stack)
            journal = unopened_journal(agent)
            listening, loopback = listener(agent.listen, has_token=good is not None)
            stack.callback(listening.close)
            if metrics_at is not None:
                stack.callback(_metrics(*metrics_at))
            replica = Replica(journal, driver, Frames(secrets_of(own)), agent.host)
            access = Access(loopback=loopback, tokens=good)
            await stack.enter_async_context(HostServer(replica, listening, access, agent.host))
        except BadAddressError as error:
            raise UsageError(f"listen: {error}") from error
        except (
            CannotListenError,
            CredentialError,
            MissingLibraryError,
            NewerSchemaError,
            NoTokensError,
            UnavailableError,
        ) as error:
            raise CannotServeError(str(error)) from error
        host, port = listening.getsockname()[:2]
        yield host, port


async def _model_driver(agent: Agent, own: Tools, client: Client, stack: AsyncExitStack) -> Driver:
    answers: Answers
    if agent.answers is not None:
        model, answers = agent.answers.model, agent.answers
    else:
        who = model_of(agent)
        await who.check_key()  # a key that is not there is told before the first turn
        model, answers = who.model, ProviderAnswers(who.credential, CallSettings(client=client))
    servers = await servers_of(agent, stack)
    thread = ToolThread()
    stack.callback(thread.close)
    return ModelDriver(
        agent=Asking(
            model=model,
            tools=own,
            instructions=agent.instructions,
            limits=agent.limits,
            window=agent.window,
            compacts=agent.compaction is not None,
        ),
        answers=answers,
        tools=ToolRunner(thread),
        compaction=agent.compaction,
        servers=servers,
    )


def _metrics(host: str, port: int) -> Callable[[], None]:
    """Serve metrics in a thread; return what ends that."""
    metrics.BUILD_INFO.labels(turnwire_agent.__version__).set(1)
    try:
        server, thread = start_http_server(port, host)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "the host is unknown"
        raise CannotServeError(f"metrics cannot be served at {host}:{port}: {why}") from None

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
