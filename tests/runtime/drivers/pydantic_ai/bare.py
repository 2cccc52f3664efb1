"""An agent whose module needs the extra and nothing else of pydantic-ai."""

from turnwire_agent import Agent
from turnwire_agent.drivers.pydantic_ai import PydanticAiAnswers

agent = Agent(answers=PydanticAiAnswers(None))
