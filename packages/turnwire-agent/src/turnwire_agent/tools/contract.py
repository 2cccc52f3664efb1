"""What a tool is, for all that run one: local functions, operations, servers of others.

A tool is data and two functions. Running it (a limit of time, of concurrency, its cancellation) is
somebody else's.
"""

import enum
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, Literal, Protocol

import msgspec
from msgspec import Struct

from turnwire_agent.tools.arguments import Validate
from turnwire_agent.tools.names import NAME_RULES, BadNameError, WireNames, check_name, wire_names
from turnwire_agent.tools.schema.document import Document
from turnwire_agent.tools.schema.form import BadSchemaError
from turnwire_agent.tools.schema.normalise import normalise
from turnwire_agent.tools.schema.rules import RULES, Shape

TIMEOUT_S: Final = 60.0
DESCRIPTION_MAX: Final = 10_000
"""Most characters of a description."""
TOOLS_MAX: Final = 1_000
"""Most tools of one agent."""


class BadToolError(ValueError):
    """A tool that cannot be registered. Its text is one line, for who registers it."""


class ToolFailed(Exception):  # noqa: N818 (a result of a tool, not a fault of the program)
    """A tool could not do what was asked. The model sees the text as it is written.

    Of any other exception the model sees nothing: its text may hold what is nobody's business.
    """


class NoAnswer(ToolFailed):
    """A question of a tool was closed without an answer."""


class Effect(enum.Enum):
    """What happens to the world when a tool runs twice, for a process that comes after a crash."""

    SAFE = "safe"
    """Nothing: it only reads, or leaves what is there as it is. It is run again."""
    KEYED = "keyed"
    """Nothing, if the second run has the key of the first (`Context.key`). It is run again."""
    ONCE = "once"
    """Something. It is not run again, and the model hears that its outcome is not known."""


class Ask(Protocol):
    """Asks the user a question while a tool runs."""

    def __call__(self, text: str, /, *, options: Sequence[str] = ()) -> Any:
        """Ask, and return the answer: the value that was sent, mostly a text.

        An async tool awaits it. In a plain function, which runs in a thread, it blocks. The run is
        still bounded by the tool's `timeout_s`.

        Args:
            text: The question, 1 to 10,000 characters.
            options: What may be answered, 100 at most. None: any text. It is a hint for people, and
                an answer may be something else.

        Raises:
            NoAnswer: nobody answered in time.
            ValueError: the question is beyond a bound, or the 101st of a run.

        """


def _nobody(*_: Any, **__: Any) -> Any:
    raise RuntimeError("nobody can be asked here")


class Context(Struct, frozen=True, kw_only=True):
    """What a tool may know of its call. A function that wants it has a parameter of this type."""

    call_id: str
    key: str
    """The same in each run of one call: for `Effect.KEYED`. No other call has it, unless the tool
    makes its own (`Tool.key`)."""
    deadline: float = 0.0
    """When the run is cancelled, in seconds of the event loop's clock."""
    session_id: str = ""
    epoch: int = 0
    """That of the session's lease: higher in each process that has the session later. A receiver
    that refuses a lower one than it has seen of this session is safe from a process that was
    stopped, and goes on after another has its turn (a fencing token)."""
    ask: Ask = _nobody


class Media(Struct, frozen=True):
    """A picture or a file in what a tool returns."""

    media_type: str
    """As `image/png`."""
    data: bytes


class Output(Struct, frozen=True):
    """What a tool returns where text or JSON alone does not do: parts, in their order."""

    parts: tuple[str | Media, ...]


Approval = Literal["never", "always"] | Callable[[Any], bool]
"""Whether a person must allow a call. A function decides by the validated arguments."""


class Tool(Struct, frozen=True, kw_only=True, dict=True):
    """One tool.

    Raises:
        BadToolError: its name is none, its schema is refused, or it marks as secret what it does
            not have. In one line.

    """

    name: str
    """Any printable text. What a provider is sent instead is `names.wire_name`."""
    description: str = ""
    schema: dict[str, Any]
    """The JSON Schema of the arguments, as it was registered."""
    validate: Validate
    """From the JSON text of a call to a value, or to a sentence for the model."""
    call: Callable[[Any, Context], Any]
    """Called with a validated value. If what it returns is awaitable, await it.

    The result is a text, any value that is JSON, or an `Output`.
    """
    effect: Effect = Effect.ONCE
    key: Callable[[Any], str] | None = None
    """Makes the key of a call from its validated arguments, for `Effect.KEYED`: printable text of 1
    to 200 characters. All calls that it gives one key are one effect for the receiver, in whatever
    session. Without it each call has a key of its own."""
    approval: Approval = "never"
    timeout_s: float = TIMEOUT_S
    """Longest run, in seconds."""
    sequential: bool = False
    """No other tool of the turn runs at the same time."""
    secrets: frozenset[str] = frozenset()
    """Names of arguments that no log, trace or screen shows."""

    def __post_init__(self) -> None:
        """Refuse what would fail later, in a turn."""
        try:
            check_name(self.name)
            for shape in RULES:
                normalise(self.schema, shape)
        except BadNameError as exc:
            raise BadToolError(str(exc)) from exc
        except BadSchemaError as exc:
            raise BadToolError(f"tool {self.name!r}: {exc}") from exc
        if len(self.description) > DESCRIPTION_MAX:
            raise BadToolError(
                f"tool {self.name!r}: its description is longer than {DESCRIPTION_MAX}"
            )
        if not self.timeout_s > 0:
            raise BadToolError(f"tool {self.name!r}: a timeout is more than 0 seconds")
        if not (self.approval in {"never", "always"} or callable(self.approval)):
            raise BadToolError(f"tool {self.name!r}: approval is never, always, or a function")
        if self.key is not None and self.effect is not Effect.KEYED:
            raise BadToolError(f"tool {self.name!r}: a key is for effect KEYED")
        if unknown := sorted(self.secrets - declared(self.schema)):
            raise BadToolError(f"tool {self.name!r}: {unknown[0]!r} is secret, but no argument")

    @cached_property
    def digest(self) -> str:
        """Names the content of the tool: what a person who allowed a call has seen of it.

        It changes with the name, the description, the schema (the order of its keys apart) and the
        effect, and is the same in every process. An approval that was given to another digest is
        none.
        """
        content = [self.name, self.description, self.schema, self.effect.value]
        return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()

    def needs_approval(self, value: Any) -> bool:
        """Whether a person must allow a call with these validated arguments."""
        return self.approval(value) if callable(self.approval) else self.approval == "always"


def declared(schema: dict[str, Any]) -> frozenset[str]:
    """The names of the arguments of a checked schema."""
    document = Document(schema)
    node = document.plain(schema)
    node = document.target(node["$ref"]) if "$ref" in node else node
    return frozenset(node.get("properties", {}))


class Tools:
    """The tools of one agent, by name. They do not change.

    Raises:
        BadToolError: two tools have one name, or would have one on some wire.

    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for each in tools:
            if each.name in self._tools:
                raise BadToolError(f"two tools are called {each.name!r}")
            self._tools[each.name] = each
        if len(self._tools) > TOOLS_MAX:
            raise BadToolError(f"more than {TOOLS_MAX} tools")
        try:
            self._wire = {shape: wire_names(self._tools, shape) for shape in NAME_RULES}
        except BadNameError as exc:
            raise BadToolError(str(exc)) from exc

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of a registered name."""
        return self._tools.get(name)

    def wire(self, shape: Shape) -> WireNames:
        """Return the names of these tools on a wire."""
        return self._wire[shape]
