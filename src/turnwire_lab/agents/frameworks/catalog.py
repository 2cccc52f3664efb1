"""Which frameworks there are, and what has to be known to start their examples."""

from pathlib import Path
from typing import Final, Literal, NamedTuple

ROOT: Final = Path(__file__).parents[4]
EXAMPLES: Final = ROOT / "examples" / "agents"
ENVIRONMENTS: Final = ROOT / ".venv" / "agents"


class Framework(NamedTuple):
    """`path` is the route of its AG-UI endpoint."""

    name: str
    path: str = "/"
    asks_server: bool = False
    """Its model is behind the OpenAI API, which `offline/openai_server.py` plays."""
    history: Literal["agent", "client"] = "client"
    """Who keeps the conversation: TURNWIRE_HISTORY of a gateway before it."""

    @property
    def application(self) -> str:
        """The ASGI application, as uvicorn takes it."""
        return f"{self.name.replace('-', '_')}_agent:app"

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return ENVIRONMENTS / self.name / "bin" / "python"


PROMPTS: Final = (
    ("what is 12*7?", "calls a tool"),
    ("what is 12*7 and what time is it in Tokyo?", "calls two tools at once"),
    ("make the tool fail", "a tool that gives up"),
    ("think about rivers", "thinks aloud first, if its framework tells"),
    ("delete notes.txt", "needs your approval"),
    ("tell me a long story", "leaves time to reload, or to stop"),
    ("make the turn fail", "an answer that breaks off"),
)
"""What the offline models know, and what comes of it."""
FRAMEWORKS: Final = {
    framework.name: framework
    for framework in (
        Framework("pydantic-ai"),
        Framework("langgraph", history="agent"),
        Framework("agno", "/agui", asks_server=True, history="agent"),
        Framework("adk"),
        Framework("strands", asks_server=True),
        Framework("llama-index", "/run", asks_server=True),
        Framework("agent-framework", asks_server=True),
    )
}
