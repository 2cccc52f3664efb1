"""The tables themselves. Each is made from the code that it describes."""

import typing
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final

import msgspec
from prometheus_client import CollectorRegistry

from turnwire import errors
from turnwire.config.settings import SECRETS, Settings, variable
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.ag_ui import messages as ag_ui
from turnwire.dialects.openai_chat import messages as openai_chat
from turnwire.dialects.openai_responses import messages as openai_responses
from turnwire.dialects.ui_stream import messages as ui_stream
from turnwire.metrics import Telemetry
from turnwire_lab.bench import report
from turnwire_lab.bench.growth import paper, slopes_page
from turnwire_lab.docs import dialect_api
from turnwire_lab.docs import hostile as hostile_rows
from turnwire_lab.docs import memory as memory_of
from turnwire_lab.docs import wires as compared
from turnwire_lab.docs.binding import diagram
from turnwire_lab.docs.conform import HEAD as CONFORM_HEAD
from turnwire_lab.docs.conform import rows as conform_rows
from turnwire_lab.docs.conversation import rows as conversation_rows
from turnwire_lab.docs.dialect_api import suite
from turnwire_lab.docs.faults import rows as fault_rows
from turnwire_lab.docs.lost import Row
from turnwire_lab.docs.lost import cells as lost_cells
from turnwire_lab.docs.lost.acp import ROWS as LOST_ACP
from turnwire_lab.docs.lost.ag_ui import ROWS as LOST_AG_UI
from turnwire_lab.docs.lost.openai_chat import ROWS as LOST_OPENAI_CHAT
from turnwire_lab.docs.lost.openai_responses import ROWS as LOST_OPENAI_RESPONSES
from turnwire_lab.docs.lost.session_agent import ROWS as LOST_SESSION_AGENT
from turnwire_lab.docs.lost.ui_stream import ROWS as LOST_UI_STREAM
from turnwire_lab.docs.lost.v2 import ROWS as LOST_V2
from turnwire_lab.docs.mapping import rows as mapping_rows
from turnwire_lab.docs.mappings.acp import rows as mapping_acp_rows
from turnwire_lab.docs.mappings.ag_ui import rows as mapping_ag_ui_rows
from turnwire_lab.docs.mappings.openai_chat import rows as mapping_openai_chat_rows
from turnwire_lab.docs.mappings.openai_responses import rows as mapping_openai_responses_rows
from turnwire_lab.docs.mappings.ui_stream import rows as mapping_ui_stream_rows
from turnwire_lab.docs.marks import ROOT
from turnwire_lab.docs.nameless import SESSION_AGENT, V2
from turnwire_lab.docs.nameless import rows as nameless_rows
from turnwire_lab.docs.no_silent_loss import rows as loss_rows
from turnwire_lab.docs.runtime import pages
from turnwire_lab.docs.traps import rows as trap_rows
from turnwire_lab.docs.watching import alert_rows, record_rows


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def wires() -> str:
    """What works with which wire."""
    return _table(compared.head(), compared.rows())


def losses() -> str:
    """What clients get nothing of, or not as it is, on each wire."""
    return _table(("What", "What becomes of it", "Note"), loss_rows())


def frameworks() -> str:
    """Which wire an agent of each framework speaks."""
    return _table(("Made with", "Wire", "An example"), compared.framework_rows())


def mapping() -> str:
    """Which frame becomes which chunks."""
    return _table(("The agent sends", "The client gets"), mapping_rows())


def mapping_ag_ui() -> str:
    """Which event of AG-UI becomes which chunks."""
    return _table(("The agent sends", "The client gets"), mapping_ag_ui_rows())


def history_ag_ui() -> str:
    """What AG-UI makes of a client's messages."""
    return _table(("The client has", "The agent is sent"), conversation_rows(ag_ui.write))


def mapping_acp() -> str:
    """Which message of ACP becomes which chunks."""
    return _table(("The agent sends", "The client gets"), mapping_acp_rows())


def mapping_ui_stream() -> str:
    """Which chunk of an agent becomes which chunks of ours."""
    return _table(("The agent sends", "The client gets"), mapping_ui_stream_rows())


def history_ui_stream() -> str:
    """What an agent that answers useChat is sent of a client's messages."""
    examples = conversation_rows(ui_stream.write, ui_stream.joined)
    return _table(("The client has", "The agent is sent"), examples)


def lost_ag_ui() -> str:
    """What becomes of the fields of AG-UI that clients get nothing of."""
    return _lost(LOST_AG_UI)


def lost_acp() -> str:
    """The same for ACP."""
    return _lost(LOST_ACP)


def lost_openai_chat() -> str:
    """The same for Chat Completions."""
    return _lost(LOST_OPENAI_CHAT)


def lost_openai_responses() -> str:
    """The same for the Responses API."""
    return _lost(LOST_OPENAI_RESPONSES)


def lost_ui_stream() -> str:
    """The same for the chunks of the AI SDK."""
    return _lost(LOST_UI_STREAM)


def lost_v2() -> str:
    """The same for the `v2` wire."""
    return _lost(LOST_V2)


def lost_session_agent() -> str:
    """The same for the `session-agent` wire."""
    return _lost(LOST_SESSION_AGENT)


def _lost(rows: Iterable[Row]) -> str:
    return _table(("Event", "Field", "Where it is counted"), lost_cells(rows))


def mapping_openai_chat() -> str:
    """Which event of Chat Completions becomes which chunks."""
    return _table(("The agent sends", "The client gets"), mapping_openai_chat_rows())


def history_openai_chat() -> str:
    """What Chat Completions make of a client's messages."""
    return _table(("The client has", "The agent is sent"), conversation_rows(openai_chat.write))


def mapping_openai_responses() -> str:
    """Which event of the Responses API becomes which chunks."""
    return _table(("The agent sends", "The client gets"), mapping_openai_responses_rows())


def history_openai_responses() -> str:
    """What the Responses API makes of a client's messages."""
    rows = conversation_rows(openai_responses.write)
    return _table(("The client has", "The agent is sent"), rows)


def traps() -> str:
    """Every trap of the `session-agent` wire, and the names of its tests."""
    return _table(("#", "The wire", "The tests"), trap_rows())


def binding() -> str:
    """How `session-agent` finds our turn: a diagram, in Mermaid."""
    return f"```mermaid\n{diagram()}\n```\n"


_NAMELESS: Final = ("What comes without a name", "When it is ours", "Why", "The test")


def nameless_v2() -> str:
    """Frames of the `v2` wire that count as ours without naming our prompt, turn or channel."""
    return _table(_NAMELESS, nameless_rows(V2))


def nameless_session_agent() -> str:
    """The same for the `session-agent` wire."""
    return _table(_NAMELESS, nameless_rows(SESSION_AGENT))


def faults() -> str:
    """Every fault that a test causes, and what happens then."""
    return _table(("What breaks", "What happens", "The test"), fault_rows())


def attacks() -> str:
    """Every attack that a test tries, and what happens then."""
    return _table(("The attack", "What happens", "The test"), fault_rows(mark="attack"))


def hostile() -> str:
    """What the other streams notice of each attack."""
    return hostile_rows.markdown(hostile_rows.read(ROOT / "docs" / "hostile.json"))


def settings() -> str:
    """Every setting, its default and what it does."""
    return _table(
        ("Variable", "Default", "What it does"),
        (
            (f"`{variable(field.name)}`", _default(field), _description(field))
            for field in msgspec.structs.fields(Settings)
        ),
    )


def metrics() -> str:
    """Every metric."""
    registry = CollectorRegistry()
    telemetry = Telemetry(registry)
    families = [
        (family, getattr(collector, "_labelnames", ()) or getattr(family, "_labelnames", ()))
        for collector in vars(telemetry).values()
        if hasattr(collector, "describe") and not isinstance(collector, CollectorRegistry)
        for family in collector.describe()
    ]
    return _table(
        ("Metric", "Type", "Labels", "What it counts"),
        (
            (
                f"`{family.name}{'_total' if family.type == 'counter' else ''}`",
                family.type,
                ", ".join(f"`{label}`" for label in labels) or "none",
                family.documentation,
            )
            for family, labels in families
        ),
    )


def alerts() -> str:
    """Every alert."""
    return _table(("Alert", "Severity", "Fires when", "Summary"), alert_rows())


def recording_rules() -> str:
    """Every recording rule."""
    return _table(("Name", "What it is"), record_rows())


def outcomes() -> str:
    """Every way a stream can end."""
    return _table(
        ("Outcome", "When", "The client gets"),
        ((f"`{outcome.value}`", outcome.meaning, _sent(outcome)) for outcome in Outcome),
    )


_TEXTS: Final = {
    Outcome.ASKED: "`tool-approval-request`, `finish`",
    Outcome.COMPLETED: "`finish`",
    Outcome.FAILED: "`error` with the agent's text, or with “Turn failed” if it has none, `finish`",
    Outcome.CANCELED: "`abort`, `finish`",
}


def _sent(outcome: Outcome) -> str:
    """The chunks that end a stream with this outcome."""
    if outcome.text is not None:
        return f"`error` with “{outcome.text}”, `finish`"
    return _TEXTS.get(outcome, "nothing")


def refusals() -> str:
    """Every answer that is not a stream."""
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type)
        and issubclass(kind, errors.RequestRefused)
        and kind is not errors.RequestRefused
    ]
    rows = [
        (kind.status, f"`{kind.code}`", getattr(kind, "public", "(names what is wrong)"))
        for kind in kinds
    ]
    rows.append((500, "`internal`", "Internal error"))
    return _table(
        ("Status", "`code`", "`error`"),
        ((str(status), code, text) for status, code, text in sorted(rows)),
    )


_PICTURES: Final = "pictures/bench"
_README_FIGURES: Final = {
    "Burst, 100 streams: frames/s/core vs Node by hand": "Frames per second and core of 100 "
    "streams, compared with a gateway written by hand in Node",
    "100 x 50/s: CPU/frame vs nginx proxying finished SSE": "CPU time of a frame, compared with "
    "nginx that passes on a finished stream",
}


def _measured() -> report.Table | None:
    """What `make bench` measured last."""
    return report.read(ROOT / "docs" / _PICTURES)


def speed() -> str:
    """Two figures for the README: one that is met, one that is not."""
    return report.headlines(_measured(), _README_FIGURES)


def speed_table() -> str:
    """Every figure that has a goal."""
    return report.markdown(_measured())


def speed_model_calls() -> str:
    """Every figure of the runtime's calls of models."""
    table = report.read(ROOT / "docs" / _PICTURES / "model-calls")
    return report.markdown(table, "No figures yet: `make bench-models` measures them.\n")


def speed_turn_log() -> str:
    """What a turn log adds to the latency."""
    table = report.read(ROOT / "docs" / _PICTURES / "turn-log")
    return report.markdown(table, "No figures yet: `make bench-turn-log` measures them.\n")


def speed_agent_loop() -> str:
    """Every figure of the runtime's turns and sessions."""
    table = report.read(ROOT / "docs" / _PICTURES / "agent-loop")
    return report.markdown(table, "No figures yet: `make bench-agent` measures them.\n")


def speed_pictures() -> str:
    """Every plot."""
    return report.pictures(_measured(), _PICTURES) or report.NOTHING


def prices() -> str:
    """The prices that sizes are computed from, for the page on scale."""
    return report.prices(_measured())


def _growth() -> report.Table | None:
    """What `make bench-growth` measured last."""
    return report.read(ROOT / "docs" / _PICTURES / "growth")


def growth_slopes() -> str:
    """How steep each cost is, and its plots."""
    pictures = report.pictures(_growth(), f"{_PICTURES}/growth")
    return "\n".join((slopes_page.table(_growth()), *filter(None, [pictures])))


def growth_checks() -> str:
    """Each part of the model beside what was measured."""
    return paper.checks(_growth())


def growth_sums() -> str:
    """What a million streams take."""
    return paper.sums(_growth(), Settings())


def memory() -> str:
    """How much memory a process may take, for the page on scale."""
    return f"{memory_of.table(Settings())}\n"


def _default(field: msgspec.structs.FieldInfo) -> str:
    match field.default:
        case None:
            return "(unset)"
        case "":
            return "(empty)"
        case bool() as value:
            return f"`{str(value).lower()}`"
        case float() as value:
            return f"`{value:g}`"
        case value:
            return f"`{value}`"


def _description(field: msgspec.structs.FieldInfo) -> str:
    text = _meta(field.type)
    if field.name in SECRETS:
        text += f" Also `{variable(field.name)}_FILE`."
    choices = _choices(field.type)
    if field.name == "dialect":  # it takes others, too
        return f"{text} The gateway has {', '.join(choices)}."
    explained = all(choice in text for choice in choices)
    return text if explained else f"{text} One of {', '.join(choices)}."


def _meta(hint: Any) -> str:
    if typing.get_origin(hint) is not Annotated:
        return ""
    return next((m.description for m in hint.__metadata__ if m.description), "")


def _choices(hint: Any) -> list[str]:
    extras = [m.extra or {} for m in getattr(hint, "__metadata__", ())]
    if tables := [extra["table"] for extra in extras if "table" in extra]:
        return [f"`{choice}`" for choice in tables[0]]
    inner = typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint
    if typing.get_origin(inner) is not typing.Literal:
        return []
    return [f"`{choice}`" for choice in typing.get_args(inner)]


def conform() -> str:
    """The scenarios that are played against an agent."""
    return _table(CONFORM_HEAD, conform_rows())


TABLES: Final[dict[str, Callable[[], str]]] = {
    "dialect-api": dialect_api.page,
    "wires": wires,
    "conform": conform,
    "suite-tests": lambda: _table(suite.TEST_HEAD, suite.test_rows()),
    "suite-scripts": lambda: _table(suite.SCRIPT_HEAD, suite.script_rows()),
    "suite-exchanges": lambda: _table(suite.EXCHANGE_HEAD, suite.exchange_rows()),
    "losses": losses,
    "frameworks": frameworks,
    "mapping": mapping,
    "mapping-ag-ui": mapping_ag_ui,
    "history-ag-ui": history_ag_ui,
    "mapping-ui-stream": mapping_ui_stream,
    "mapping-acp": mapping_acp,
    "history-ui-stream": history_ui_stream,
    "lost-ag-ui": lost_ag_ui,
    "lost-acp": lost_acp,
    "lost-openai-chat": lost_openai_chat,
    "lost-openai-responses": lost_openai_responses,
    "lost-ui-stream": lost_ui_stream,
    "lost-v-two": lost_v2,
    "lost-session-agent": lost_session_agent,
    "mapping-openai-chat": mapping_openai_chat,
    "history-openai-chat": history_openai_chat,
    "mapping-openai-responses": mapping_openai_responses,
    "history-openai-responses": history_openai_responses,
    "traps": traps,
    "binding": binding,
    "nameless-v-two": nameless_v2,
    "nameless-session-agent": nameless_session_agent,
    "faults": faults,
    "attacks": attacks,
    "hostile": hostile,
    "settings": settings,
    "metrics": metrics,
    "alerts": alerts,
    "recording-rules": recording_rules,
    "outcomes": outcomes,
    "refusals": refusals,
    "speed": speed,
    "speed-table": speed_table,
    "speed-model-calls": speed_model_calls,
    "speed-turn-log": speed_turn_log,
    "speed-agent-loop": speed_agent_loop,
    "speed-pictures": speed_pictures,
    "prices": prices,
    "growth-slopes": growth_slopes,
    "growth-checks": growth_checks,
    "growth-sums": growth_sums,
    "memory": memory,
    **pages.tables(_table),
}
