"""The agent that `turnwire-agent serve` serves here. Who starts it says where everything is."""

import os
from pathlib import Path
from typing import Final

from runtime.kill.mortal import tools_of
from turnwire_agent.host.settings import HostSettings
from turnwire_agent.settings import Agent

LEASE_S: Final = 2.0

agent = Agent(
    model="openai:tiny",
    shape="chat",
    base_url=os.environ.get("CHAOS_PROVIDER"),
    key_variable="CHAOS_KEY",
    tools=tools_of(Path(os.environ.get("CHAOS_WORLD", "world"))),
    host=HostSettings(lease_s=LEASE_S),
)
