"""Run the calls of one answer, one after another: enough for a try in a terminal."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec

from turnwire_agent.cli.approval import allowed_at_terminal
from turnwire_agent.llm.transcript import Assistant, Call, Result, Results, Text
from turnwire_agent.tools.arguments import Invalid
from turnwire_agent.tools.contract import Context, Tool, ToolFailed, Tools
from turnwire_agent.tools.keys import own_key
from turnwire_agent.tools.names import WireNames

Allowed = Callable[[str], Awaitable[bool | None]]
"""Answers whether a call may run; None: nobody can be asked."""

_NOBODY: Final = (
    "`try` asks at a terminal, and standard input is none: run it in a terminal, and answer y."
)
_NOT_ASKED: Final = "It needs a person's approval, and nobody can be asked. It did not run."


async def results(
    message: Assistant,
    tools: Tools,
    names: WireNames,
    report: Callable[[str], None],
    allowed: Allowed = allowed_at_terminal,
) -> Results:
    """The result of each call.

    Args:
        message: With registered names.
        tools: What may be called.
        names: The names of the request, for a call of a tool that does not exist.
        report: Hears in a line what a function raised, which the model does not.
        allowed: Is asked about each call that needs somebody's approval.
    """
    calls = [await _result(call, tools, names, report, allowed) for call in message.calls]
    return Results(tuple(calls))


async def _result(
    call: Call,
    tools: Tools,
    names: WireNames,
    report: Callable[[str], None],
    allowed: Allowed,
) -> Result:
    tool = tools.get(call.name)
    if tool is None:
        return Result(call.id, call.name, (Text(names.unknown(call.name)),), "failed")
    arguments = tool.validate(call.arguments)
    if isinstance(arguments, Invalid):
        return Result(call.id, call.name, (Text(arguments.sentence),), "failed")
    if tool.needs_approval(arguments.value):
        answer = await allowed(f"May {call.name} run with {call.arguments}?")
        if answer is None:
            report(f"{call.name} needs somebody's approval, and is not run. {_NOBODY}")
            return Result(call.id, call.name, (Text(_NOT_ASKED),), "failed")
        if not answer:
            return Result(call.id, call.name, outcome="denied")
    try:
        text = await _run(tool, call, arguments.value)
    except ToolFailed as failed:
        return Result(call.id, call.name, (Text(str(failed)),), "failed")
    except TimeoutError:
        return Result(call.id, call.name, (Text("It took too long."),), "failed")
    except Exception as error:  # noqa: BLE001 - whatever a function raises, the model is answered
        report(f"{call.name} raised {type(error).__name__}: {error}")
        return Result(call.id, call.name, outcome="failed")
    return Result(call.id, call.name, (Text(text),))


async def _run(tool: Tool, call: Call, value: object) -> str:
    deadline = asyncio.get_running_loop().time() + tool.timeout_s
    async with asyncio.timeout_at(deadline):
        key = own_key(tool, value) or call.id
        outcome = tool.call(value, Context(call_id=call.id, key=key, deadline=deadline))
        if inspect.isawaitable(outcome):
            outcome = await outcome
    return outcome if isinstance(outcome, str) else msgspec.json.encode(outcome).decode()
