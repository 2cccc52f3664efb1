"""What frames tell of tool calls."""

from msgspec import Raw

from turnwire.core.events import Phase, ToolUpdate


def tool_update(
    call_id: str,
    tool_name: str,
    *,
    args: Raw = Raw(),  # noqa: B008 (it never changes)
    result: Raw = Raw(),  # noqa: B008
    error: str | None = None,
) -> ToolUpdate:
    """Return what a frame tells of a tool call: it runs, has its result, or failed.

    An empty `Raw` is a field that the frame does not have. So a struct declares `result: Raw =
    Raw()`; msgspec cannot decode `Raw | None`.
    """
    phase = Phase.RUNNING
    if error is not None:
        phase = Phase.ERROR
    elif result:
        phase = Phase.COMPLETED
    return ToolUpdate(
        call_id=call_id,
        tool_name=tool_name,
        phase=phase,
        args=args or None,
        result=result or None,
        error=error,
    )
