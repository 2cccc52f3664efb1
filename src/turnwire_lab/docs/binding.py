"""The diagram of how `session-agent` binds a prompt to its turn, from the table of transitions."""

import itertools
from collections.abc import Iterator

from turnwire.dialects.session_agent.binding.transitions import AT_WORK, TRANSITIONS, Stage, Trigger

_GROUP = "AT_WORK"


def diagram() -> str:
    """Mermaid, which GitHub draws. The end is left out: it comes in every state."""
    lines = ["stateDiagram-v2", f"    [*] --> {next(iter(Stage)).name}", f"    state {_GROUP} {{"]
    lines += [f"        {stage.name}" for stage in Stage if stage in AT_WORK]
    lines += ["    }"]
    lines += [
        f"    {source} --> {target}: {' / '.join(labels)}"
        for (source, target), labels in _arrows().items()
    ]
    return "\n".join(lines)


def _arrows() -> dict[tuple[str, str], list[str]]:
    """The labels of each arrow, by where it leaves and where it points."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for source, target, label in _drawn():
        labels = arrows.setdefault((source, target), [])
        if label not in labels:
            labels.append(label)
    return arrows


def _drawn() -> Iterator[tuple[str, str, str]]:
    for stage, trigger in itertools.product(Stage, Trigger):
        target = TRANSITIONS.get((stage, trigger))
        if target is None or trigger is Trigger.END:
            continue
        # What leads out of every state of the group is one arrow from the group.
        of_group = stage in AT_WORK and target not in AT_WORK
        is_shared = of_group and all(TRANSITIONS.get((s, trigger)) is target for s in AT_WORK)
        yield _GROUP if is_shared else stage.name, target.name, trigger.value
