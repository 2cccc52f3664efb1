"""What a turn is given to work with."""

from msgspec import Struct

from turnwire_agent.llm.model import Model
from turnwire_agent.loop.limits import Limits
from turnwire_agent.tools.contract import Tools


class Agent(Struct, frozen=True, kw_only=True):
    """A model, its instructions and its tools. It does not change during a turn in one process."""

    model: Model
    tools: Tools = Tools()
    instructions: str = ""
    limits: Limits = Limits()
    window: int | None = None
    """How many tokens the model takes, its answer among them. None: only the provider knows."""
    compacts: bool = False
    """Whether there is somebody who makes a transcript shorter that is too long."""
