"""Which frameworks there are, and what has to be known to start their examples."""

from pathlib import Path
from typing import Final, Literal, NamedTuple

ROOT: Final = Path(__file__).parents[4]
EXAMPLES: Final = ROOT / "examples" / "agents"
ENVIRONMENTS: Final = ROOT / ".venv" / "agents"


class Framework(NamedTuple):
    """`path` is the route of its endpoint."""

    name: str
    title: str
    """What its makers call it."""
    path: str = "/"
    asks_server: bool = False
    """Its model is behind the OpenAI API, which `offline/openai_server.py` plays."""
    history: Literal["agent", "client"] = "client"
    """Who keeps the conversation: TURNWIRE_HISTORY of a gateway before it."""
    wire: str = "ag-ui"
    """The dialect that its agent speaks."""
    environment: str = ""
    """Whose environment it runs in, if that is another's."""
    is_program: bool = False
    """It serves by itself, at `--port`, and is no application."""
    health: str = "/health"
    """Where a program says that it is ready."""
    settings: tuple[tuple[str, str], ...] = ()
    """What else a gateway before it needs."""

    @property
    def application(self) -> str:
        """The ASGI application, as uvicorn takes it."""
        return f"{self.name.replace('-', '_')}_agent:app"

    @property
    def scheme(self) -> str:
        """That of its URL."""
        return "ws" if self.wire == "acp" else "http"

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return ENVIRONMENTS / (self.environment or self.name) / "bin" / "python"


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
LOCAL_MODEL: Final = "local-model"
ACP: Final = "acp"
UI_STREAM: Final = "pydantic-ai-chat"
"""The example that speaks the wire `ui-stream`."""
LOCAL_PROMPTS: Final = (
    ("say hello", "a real, very small model"),
    ("what is the capital of France?", "which may be wrong"),
    ("tell me a long story", "leaves time to reload, or to stop"),
)
SHOWN_TOO: Final = (LOCAL_MODEL, ACP, UI_STREAM)
"""Those of `OTHER_AGENTS` that the demo knows, besides all of `FRAMEWORKS`."""
FRAMEWORKS: Final = {
    framework.name: framework
    for framework in (
        Framework("pydantic-ai", "pydantic-ai"),
        Framework("langgraph", "LangGraph", history="agent"),
        Framework("agno", "Agno", "/agui", asks_server=True, history="agent"),
        Framework("adk", "Google ADK"),
        Framework("strands", "Strands", asks_server=True),
        Framework("llama-index", "LlamaIndex", "/run", asks_server=True),
        Framework("crewai", "CrewAI", asks_server=True),
        Framework("agent-framework", "Microsoft Agent Framework", asks_server=True),
    )
}
OTHER_AGENTS: Final = {
    framework.name: framework
    for framework in (
        Framework(
            UI_STREAM,
            "pydantic-ai for useChat",
            environment="pydantic-ai",
            wire="ui-stream",
        ),
        Framework(
            LOCAL_MODEL,
            "SmolLM2 on this machine",
            "/v1",
            wire="openai-chat",
            is_program=True,
            settings=(
                ("TURNWIRE_AGENT_MODEL", "smollm2"),
                ("TURNWIRE_AGENT_AUTH", "none"),
                ("TURNWIRE_AGENT_REQUEST", '{"max_tokens":400,"temperature":0.2}'),
            ),
        ),
        Framework(
            "hermes",
            "Hermes",
            "/v1",
            history="agent",
            wire="openai-responses",
            is_program=True,
            settings=(
                ("TURNWIRE_AGENT_MODEL", "hermes-agent"),
                ("TURNWIRE_AGENT_AUTH", "service"),
            ),
        ),
        Framework(
            "litellm",
            "LiteLLM's proxy",
            "/v1",
            wire="openai-chat",
            is_program=True,
            health="/health/liveliness",
            settings=(
                ("TURNWIRE_AGENT_MODEL", "small-1"),
                ("TURNWIRE_AGENT_AUTH", "service"),
            ),
        ),
        Framework(
            ACP,
            "the Agent Client Protocol's SDK",
            "/sessions/{session_id}/acp",
            wire="acp",
            history="agent",
            settings=(("TURNWIRE_AGENT_CWD", str(EXAMPLES)),),
        ),
    )
}
"""Examples that speak other wires than AG-UI. The docs of each wire name its own."""
