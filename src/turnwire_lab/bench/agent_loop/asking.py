"""An agent whose only tool needs the consent of a person."""

from turnwire_agent import Agent, tool
from turnwire_lab.bench.agent_loop.provider import TOOL


@tool(name=TOOL, approval="always")
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


agent = Agent(model="local:large", base_url="http://127.0.0.1:9/v1", shape="chat", tools=(pay,))
