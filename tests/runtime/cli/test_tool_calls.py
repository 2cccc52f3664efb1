import pytest

from turnwire_agent.cli.tool_calls import results
from turnwire_agent.llm.transcript import Assistant, Call, Result, Text
from turnwire_agent.tools.contract import Context, Effect, Tools
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.names import WireNames

WHERE = "`try` asks at a terminal, and standard input is none: run it in a terminal, and answer y."


@tool(approval="always")
def half(number: int) -> float:
    """Halve a number."""
    return number / 2


@pytest.mark.parametrize(
    ("answer", "result", "reported"),
    [
        (True, Result("c1", "half", (Text("3.5"),)), ""),
        (False, Result("c1", "half", outcome="denied"), ""),
        (
            None,
            Result(
                "c1",
                "half",
                (Text("It needs a person's approval, and nobody can be asked. It did not run."),),
                "failed",
            ),
            f"half needs somebody's approval, and is not run. {WHERE}",
        ),
    ],
)
async def test_a_call_that_needs_approval_runs_if_somebody_allows_it(
    answer: bool | None,  # noqa: FBT001 (a table's column)
    result: Result,
    reported: str,
) -> None:
    asked, lines = list[str](), list[str]()

    async def allowed(question: str) -> bool | None:
        asked.append(question)
        return answer

    message = Assistant((Call("c1", "half", '{"number": 7}'),))
    tools = Tools([half])
    found = await results(message, tools, WireNames({"half": "half"}), lines.append, allowed)

    assert found.results == (result,)
    assert asked == ['May half run with {"number": 7}?']
    assert lines == ([reported] if reported else [])


async def test_a_call_has_the_key_that_its_tool_makes() -> None:
    @tool(effect=Effect.KEYED, key=lambda order: order)
    def pay(order: str, context: Context) -> str:
        return f"{order} by {context.key}"

    @tool(effect=Effect.KEYED)
    def own(order: str, context: Context) -> str:
        return f"{order} by {context.key}"

    async def allowed(_: str) -> bool | None:
        raise AssertionError("nobody is asked")

    calls = (
        Call("c1", "pay", '{"order": "o7"}'),
        Call("c2", "pay", '{"order": ""}'),
        Call("c3", "own", '{"order": "o7"}'),
    )
    names = WireNames({"pay": "pay", "own": "own"})
    found = await results(Assistant(calls), Tools([pay, own]), names, print, allowed)

    assert [each.content for each in found.results] == [
        (Text("o7 by o7"),),
        (Text("Not run: the tool makes no valid key of these arguments."),),
        (Text("o7 by c3"),),
    ]
