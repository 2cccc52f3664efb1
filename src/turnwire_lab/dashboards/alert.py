"""What an alert is: values and their thresholds, apart, so that a value can be asked for alone."""

import enum
from typing import Final, Literal

from msgspec import Struct

RUNBOOK: Final = "docs/runbook.md"


class Severity(enum.Enum):
    CRITICAL = "critical"
    """Users notice now: it calls a person."""
    WARNING = "warning"
    """It will get worse, or few users notice: a person looks at it today."""
    INFO = "info"
    """Worth knowing when something else is looked at."""


class Condition(Struct, frozen=True):
    """A value beyond its threshold. The value alone always has an answer where there is traffic."""

    value: str
    op: Literal["<", ">"]
    threshold: float

    @property
    def expr(self) -> str:
        value = f"({self.value})" if " " in self.value else self.value
        return f"{value} {self.op} {self.threshold:.6g}"


class Alert(Struct, frozen=True):
    """Fires when all conditions of one of `when` hold for `lasts`.

    `on`: the labels that the conditions have in common. `description` says what it means;
    `show` is how its value reads.
    """

    name: str
    severity: Severity
    when: tuple[tuple[Condition, ...], ...]
    lasts: str
    summary: str
    description: str
    on: str = "job"
    show: Literal["", "humanize", "humanizePercentage", "humanizeDuration", "humanize1024"] = ""

    @property
    def expr(self) -> str:
        ways = (f"\nand on ({self.on}) ".join(each.expr for each in way) for way in self.when)
        return "\nor\n".join(ways)

    @property
    def anchor(self) -> str:
        """Of its heading in the runbook."""
        return self.name.lower()

    @property
    def runbook_url(self) -> str:
        return f"{RUNBOOK}#{self.anchor}"

    @property
    def annotation(self) -> str:
        """The description, with the value that it fires at."""
        pipe = f" | {self.show}" if self.show else ""
        return f"{self.description} Now: {{{{ $value{pipe} }}}}."


class Record(Struct, frozen=True):
    """A recording rule."""

    name: str
    expr: str
    what: str
