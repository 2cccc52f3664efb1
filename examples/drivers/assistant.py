"""An agent of pydantic-ai that is served: `turnwire-agent serve assistant:agent`."""

from pydantic_ai import Agent as Assistant

from turnwire_agent import Agent, Context, Effect, tool
from turnwire_agent.drivers.pydantic_ai import PydanticAiAnswers

# "test" is a model of pydantic-ai that calls each tool once. Write "anthropic:claude-sonnet-4-5".
assistant = Assistant("test", instructions="Be brief.")


@assistant.tool_plain
def weather(city: str) -> str:
    """Say how the weather is."""  # the agent's own: after a crash it may run again
    return f"It rains in {city}."


@tool(effect=Effect.KEYED, approval="always")
def book(hotel: str, context: Context) -> str:
    """Book a room."""  # registered: a person allows it, and its key is the same in each run
    return f"Booked {hotel} as {context.key}."


agent = Agent(answers=PydanticAiAnswers(assistant), tools=(book,))
