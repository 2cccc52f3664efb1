"""Every panel, in its row."""

from typing import Final

from turnwire_lab.dashboards.panels_http import HTTP
from turnwire_lab.dashboards.panels_means import AGENT, PROCESS, SATURATION, SECURITY
from turnwire_lab.dashboards.panels_turns import LATENCY, OUTCOMES, TRAFFIC
from turnwire_lab.dashboards.runtime.panels import RUNTIME

ROWS: Final = (TRAFFIC, OUTCOMES, LATENCY, AGENT, HTTP, SATURATION, SECURITY, PROCESS, RUNTIME)
