"""The diagram of the binding is drawn from its table."""

import re
from typing import Final

from turnwire.dialects.session_agent.binding.transitions import AT_WORK, TRANSITIONS, Stage, Trigger
from turnwire_lab.docs.binding import diagram
from turnwire_lab.docs.tables import TABLES

ARROW: Final = re.compile(r"    (\w+) --> (\w+): (.+)")


def drawn() -> set[tuple[str, str, str]]:
    """Each transition that an arrow stands for; one from the group stands for all its states."""
    found = set()
    for line in diagram().splitlines():
        if arrow := ARROW.fullmatch(line):
            group = [stage.name for stage in AT_WORK] if arrow[1] == "AT_WORK" else [arrow[1]]
            found |= {
                (source, arrow[2], label) for source in group for label in arrow[3].split(" / ")
            }
    return found


def test_every_row_is_drawn_and_nothing_else() -> None:
    rows = {
        (stage.name, target.name, trigger.value)
        for (stage, trigger), target in TRANSITIONS.items()
        if trigger is not Trigger.END
    }

    assert drawn() == rows


def test_what_leads_out_of_the_whole_group_is_one_arrow() -> None:
    assert "    AT_WORK --> RUNNER_LOST: runner lost" in diagram()
    assert "    RUNNING --> RUNNER_LOST" not in diagram()
    assert "    RUNNING --> FINISHED: finish part" in diagram()


def test_it_begins_where_a_stream_begins() -> None:
    assert diagram().startswith(f"stateDiagram-v2\n    [*] --> {Stage.AWAITING_INIT.name}\n")
    assert TABLES["binding"]() == f"```mermaid\n{diagram()}\n```\n"


def test_no_label_has_a_sign_that_mermaid_reads() -> None:
    assert not [
        trigger.value for trigger in Trigger if re.search(r"[:;#%{}\[\]\"/]|--", trigger.value)
    ]
