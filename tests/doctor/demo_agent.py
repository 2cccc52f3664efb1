"""The agent of the lab's demo, as a process."""

import sys

from gateway.agent_process import AgentProcess

LONG = "tell me a long story"


class DemoAgent(AgentProcess):
    """The lab's agent as its demo has it, with these options."""

    def __init__(self, *options: str) -> None:
        super().__init__()
        self._command = (
            *(sys.executable, "-m", "turnwire_lab", "agent"),
            *("--port", "0", *options),
        )
