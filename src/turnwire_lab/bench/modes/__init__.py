"""The modes: which loads, on whom."""

from collections.abc import Mapping, Sequence
from typing import Final

from turnwire_lab.bench.modes.agent_loop import AGENT_LOOP_MODES
from turnwire_lab.bench.modes.agent_sessions import AGENT_SESSION_MODES
from turnwire_lab.bench.modes.growth import GROWTH_MODES
from turnwire_lab.bench.modes.http import HTTP_MODES
from turnwire_lab.bench.modes.model_calls import MODEL_CALL_MODES
from turnwire_lab.bench.modes.turn_log import TURN_LOG_MODES
from turnwire_lab.bench.modes.websocket import WEBSOCKET_MODES
from turnwire_lab.bench.run import Mode

GATEWAY_MODES: Final[Mapping[str, Mode]] = {**WEBSOCKET_MODES, **HTTP_MODES}
"""What is measured unless others are named."""

MODES: Final[Mapping[str, Mode]] = {
    **GATEWAY_MODES,
    **TURN_LOG_MODES,
    **GROWTH_MODES,
    **MODEL_CALL_MODES,
    **AGENT_LOOP_MODES,
    **AGENT_SESSION_MODES,
}

QUICK_MODES: Final[Sequence[str]] = ("burst", "paced", "short")
