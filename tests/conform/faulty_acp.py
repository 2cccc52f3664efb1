"""Faults for the example of the ACP's SDK: `uvicorn --factory faulty_acp:goes_on`, one in each.

Its tools take a moment here, so that they can be stopped.

It runs in the environment of that agent, beside examples/agents, and imports nothing of this
project.
"""

import asyncio
import importlib
import time
from typing import Any

example: Any = importlib.import_module("acp_agent")
Agent: Any = example.Agent
TOOL_S = 0.4
BLOCKS_S = 1.5
LATE_S = 2.5
"""Too late for any patience of the tests."""


async def _end(agent: Any, *given: Any) -> Any:
    await asyncio.sleep(TOOL_S)
    return await ends_at_once(agent, *given)


ends_at_once = Agent._end
Agent._end = _end


def sound() -> Any:
    """No fault."""
    return example.app


def goes_on() -> Any:
    """A cancel does nothing: the turn runs to its end."""

    async def cancel(_agent: Any, session_id: str, **_: Any) -> None:
        """Leave the turn of this session alone."""

    Agent.cancel = cancel
    return example.app


def tells_no_past() -> Any:
    """A session that is loaded tells nothing."""

    async def load_session(_agent: Any, session_id: str, **_: Any) -> Any:
        assert session_id in example.SESSIONS
        return example.LoadSessionResponse()

    Agent.load_session = load_session
    return example.app


def leaves_calls_open() -> Any:
    """A call has no end."""
    tell = Agent._tell

    async def changed(agent: Any, session_id: str, update: Any) -> None:
        if getattr(update, "status", None) != "completed":
            await tell(agent, session_id, update)

    Agent._tell = changed
    return example.app


def holds_text_back() -> Any:
    """The text of a turn comes as one piece."""
    whole = Agent._answer

    async def answered(agent: Any, session_id: str, text: str) -> Any:
        tell, held = agent._tell, []

        async def hold(session_id: str, update: Any) -> None:
            if update.session_update == "agent_message_chunk":
                held.append(update.content.text)
            else:
                await tell(session_id, update)

        agent._tell = hold
        reason = await whole(agent, session_id, text)
        await tell(session_id, example.helpers.update_agent_message_text("".join(held)))
        return reason

    Agent._answer = answered
    return example.app


def blocks_in_a_tool() -> Any:
    """A tool blocks the loop, so that nobody answers a ping."""
    calculate = example.TOOLS["calculator"]

    def slow(given: Any) -> Any:
        time.sleep(BLOCKS_S)
        return calculate(given)

    example.TOOLS["calculator"] = slow
    return example.app


def forgets_a_session_that_is_open_twice() -> Any:
    """A prompt ends the turn that another connection began."""
    running: dict[str, asyncio.Task[Any]] = {}
    prompt = Agent.prompt

    async def alone(agent: Any, session_id: str, **given: Any) -> Any:
        if (before := running.get(session_id)) is not None:
            before.cancel()
        running[session_id] = asyncio.create_task(prompt(agent, session_id=session_id, **given))
        return await running[session_id]

    Agent.prompt = alone
    return example.app


def greets_late() -> Any:
    """It takes seconds until a connection is ready."""
    initialize = Agent.initialize

    async def late(agent: Any, **given: Any) -> Any:
        await asyncio.sleep(LATE_S)
        return await initialize(agent, **given)

    Agent.initialize = late
    return example.app
