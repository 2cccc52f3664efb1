"""From what a server lists to tools, and to the problems of those that cannot be one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from turnwire_agent.mcp.results import result_of
from turnwire_agent.mcp.settings import Server
from turnwire_agent.tools.arguments import untyped
from turnwire_agent.tools.contract import BadToolError, Context, Effect, Tool
from turnwire_agent.tools.schema.form import check

Json = Mapping[str, Any]
Call = Callable[[str, Json], Awaitable[Json]]
"""Calls a tool by its name at the server. It raises `ToolFailed`, or what is shown to nobody."""

SAFE_HINTS: Final = ("readOnlyHint", "idempotentHint")


class Problem(Struct, frozen=True):
    """What is not there, and why: one line for the operator."""

    server: str
    tool: str
    """Its name at the server; empty: all of it."""
    why: str


class Offered(Struct, frozen=True):
    """The tools of one listing."""

    tools: tuple[Tool, ...] = ()
    problems: tuple[Problem, ...] = ()


def offered(server: Server, listed: Sequence[Json], call: Call) -> Offered:
    """Make tools of a listing. A tool that cannot be one is a problem, and harms no other.

    It takes as long as the schemas are large, so an event loop calls it in a thread.
    """
    tools, problems = dict[str, Tool](), list[Problem]()
    names = {str(each.get("name")) for each in listed}
    for missing in sorted({*(server.only or ()), *server.approvals} - names):
        problems.append(Problem(server.name, missing, "the settings name it, and it is not there"))
    if server.only is not None:
        listed = [each for each in listed if each.get("name") in server.only]
    for each in listed[: server.bounds.tools]:
        name = each.get("name")
        try:
            tool = _tool(server, each, call)
        except BadToolError as exc:
            problems.append(Problem(server.name, str(name)[:80], str(exc)))
            continue
        if tool.name in tools:
            problems.append(Problem(server.name, str(name)[:80], "another tool has its name"))
        else:
            tools[tool.name] = tool
    if len(listed) > server.bounds.tools:
        why = f"it has more than {server.bounds.tools} tools: those after them are left out"
        problems.append(Problem(server.name, "", why))
    return Offered(tuple(tools.values()), tuple(problems))


def _tool(server: Server, listed: Json, call: Call) -> Tool:
    """Raise BadToolError for the first thing that does not fit."""
    name = listed.get("name")
    schema = listed.get("inputSchema")
    description = listed.get("description") or listed.get("title") or ""
    if not (isinstance(name, str) and name and isinstance(schema, dict)):
        raise BadToolError("a tool has a name and a schema")
    if not isinstance(description, str) or len(description) > server.bounds.description_chars:
        limit = server.bounds.description_chars
        raise BadToolError(f"its description is longer than {limit} characters")
    try:
        size = len(msgspec.json.encode(schema))
    except (RecursionError, UnicodeEncodeError) as exc:
        raise BadToolError("its schema is no JSON") from exc
    if size > server.bounds.schema_bytes:
        raise BadToolError(f"its schema has more than {server.bounds.schema_bytes} bytes")
    try:
        check(schema)
        validate = untyped(schema)
    except ValueError as exc:
        raise BadToolError(str(exc).partition("\n")[0]) from exc
    structured = isinstance(listed.get("outputSchema"), dict)

    async def run(value: Any, context: Context) -> Any:
        del context  # no server of others takes our key
        return result_of(await call(name, value), server.bounds, structured=structured)

    return Tool(
        name=f"{server.name}.{name}",
        description=description,
        schema=schema,
        validate=validate,
        call=run,
        effect=_effect(server, listed.get("annotations")),
        approval=server.approvals.get(name, server.approval),
        timeout_s=server.call_s,
    )


def _effect(server: Server, hints: Any) -> Effect:
    if not server.trusted or not isinstance(hints, Mapping):
        return Effect.ONCE
    return Effect.SAFE if any(hints.get(each) is True for each in SAFE_HINTS) else Effect.ONCE
