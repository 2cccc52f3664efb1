"""The events, items and fields of the Responses API that clients get nothing of."""

from typing import Final

from turnwire_lab.docs.lost import ALL, ANY, BY_NAME, Row

ROWS: Final = (
    Row(ANY, "sequence_number", "nothing: events are read in their order"),
    Row(
        "response.audio.delta response.audio.transcript.delta"
        " response.image_generation_call.partial_image",
        ALL,
        BY_NAME,
    ),
    Row(
        "response.code_interpreter_call_code.delta response.code_interpreter_call_code.done",
        ALL,
        "nothing: the item has the code",
    ),
    Row(
        "response.content_part.added response.content_part.done"
        " response.reasoning_summary_part.added response.reasoning_summary_part.done",
        ALL,
        "nothing: the text has events of its own",
    ),
    Row(
        "response.queued response.audio.done response.audio.transcript.done",
        ALL,
        "nothing: they only show that the agent is alive",
    ),
    Row(
        "response.web_search_call.in_progress response.web_search_call.searching"
        " response.web_search_call.completed",
        ALL,
        "nothing: the item has what came of it",
    ),
    Row(
        "response.file_search_call.in_progress response.file_search_call.searching"
        " response.file_search_call.completed",
        ALL,
        "nothing, as above",
    ),
    Row(
        "response.code_interpreter_call.in_progress response.code_interpreter_call.interpreting"
        " response.code_interpreter_call.completed",
        ALL,
        "nothing, as above",
    ),
    Row(
        "response.image_generation_call.in_progress response.image_generation_call.generating"
        " response.image_generation_call.completed",
        ALL,
        "nothing, as above",
    ),
    Row(
        "response.mcp_call.in_progress response.mcp_call.completed response.mcp_call.failed",
        ALL,
        "nothing, as above",
    ),
    Row(
        "response.mcp_list_tools.in_progress response.mcp_list_tools.completed"
        " response.mcp_list_tools.failed",
        ALL,
        "nothing, as above",
    ),
    Row("response.in_progress", "response", "nothing: the end has it whole"),
    Row("response.function_call_arguments.done", "name", "nothing: the item has it"),
    Row("response.output_text.delta response.output_text.done", "logprobs", "nothing"),
    Row(
        "response.output_text.annotation.added",
        "annotation_index item_id output_index content_index",
        "nothing: pages are shown after the answer",
    ),
    Row("error", "code", "`error_code` of the log line"),
    Row("error", "param", "nothing"),
    Row("response", "id object created_at completed_at model moderation", "nothing"),
    Row(
        "response",
        "background conversation instructions max_output_tokens max_tool_calls metadata"
        " parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options"
        " prompt_cache_retention reasoning safety_identifier service_tier temperature text"
        " tool_choice tools top_logprobs top_p truncation user",
        "nothing: it repeats the request",
    ),
    Row(
        "item.program item.program_output item.tool_search_output item.additional_tools"
        " item.compaction item.mcp_approval_response",
        ALL,
        "`item`",
    ),
    Row("item.mcp_list_tools", ALL, "`item`, or `list of tools that failed`"),
    Row("item.message", "role", "nothing: it is always `assistant`"),
    Row("item.message", "phase", "nothing: a comment of the agent is text like any other"),
    Row(
        "item.reasoning",
        "encrypted_content",
        "`encrypted_content`: the next turn begins without it",
    ),
    Row("item.function_call item.custom_tool_call", "namespace caller", "nothing"),
    Row("item.function_call_output", "namespace caller created_by", "nothing"),
    Row(
        "item.custom_tool_call_output item.shell_call item.shell_call_output item.apply_patch_call"
        " item.apply_patch_call_output",
        "caller created_by",
        "nothing",
    ),
    Row("item.shell_call", "environment", "nothing"),
    Row("item.shell_call_output", "max_output_length", "nothing"),
    Row("item.tool_search_call", "execution created_by", "nothing"),
    Row("item.code_interpreter_call", "container_id", "nothing"),
    Row("item.computer_call", "pending_safety_checks", "nothing"),
    Row("item.computer_call_output", "acknowledged_safety_checks created_by", "nothing"),
    Row("part.output_text", "logprobs", "nothing"),
    Row(
        "annotation.file_citation annotation.file_path annotation.container_file_citation",
        ALL,
        "`citation`: it is no page",
    ),
    Row(
        "annotation.url_citation",
        "start_index end_index",
        "nothing: pages are shown after the answer",
    ),
)
