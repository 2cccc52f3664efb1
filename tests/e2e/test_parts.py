"""Parts of an answer beside its words: pictures of tools, plans, states, inputs as they grow."""

import base64
import json
from typing import Any, Final

from playwright.async_api import Route, expect

from e2e.axe import violations
from e2e.conftest import NewTalk
from e2e.talking import Talk

DOT: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
OUTPUT: Final = {
    "content": [
        {"type": "text", "text": "a dot"},
        {"type": "image", "data": DOT, "mimeType": "image/png", "name": "the dot"},
    ],
    "thumbnail": f"data:image/png;base64,{DOT}",
    "page": "data:text/html;base64," + base64.b64encode(b"<b>no</b>").decode(),
}
PLAN: Final = {
    "entries": [
        {"content": "read the pages", "status": "completed", "priority": "high"},
        {"content": "write the answer", "status": "in_progress"},
        {"content": "check it", "status": "pending"},
    ]
}
HISTORY: Final = [
    {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "draw a dot"}]},
    {
        "id": "a1",
        "role": "assistant",
        "parts": [
            {"type": "data-plan", "id": "plan", "data": PLAN},
            {
                "type": "dynamic-tool",
                "toolName": "draw",
                "toolCallId": "c1",
                "state": "output-available",
                "input": {"what": "a dot"},
                "output": OUTPUT,
            },
            {"type": "data-state", "id": "state", "data": {"mood": "calm"}},
            {"type": "text", "text": "Here it is.", "state": "done"},
        ],
    },
]
WRITTEN: Final = """() => {
    const body = new ReadableStream({
        start(controller) {
            const encoder = new TextEncoder();
            window.end = () => controller.close();
            window.write = (chunk) =>
                controller.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\\n\\n`));
        },
    });
    const {fetch} = window;
    const headers = {"content-type": "text/event-stream"};
    window.fetch = async (url, init) =>
        String(url).endsWith("/chat") ? new Response(body, {headers}) : fetch(url, init);
}"""
"""A stream that the test writes, chunk by chunk, in the place of the agent's."""


async def with_history(new_talk: NewTalk, **options: Any) -> Talk:
    """A page whose agent's history is this one."""
    talk = await new_talk(**options)

    async def answer(route: Route) -> None:
        await route.fulfill(json=HISTORY)

    await talk.page.route("**/messages?*", answer)
    await talk.reload()
    await expect(talk.answer).to_contain_text("Here it is.")
    return talk


async def test_pictures_of_a_tool_are_drawn(new_talk: NewTalk) -> None:
    talk = await with_history(new_talk, viewport={"width": 390, "height": 800})
    pictures = talk.tool.get_by_role("img")
    await expect(pictures).to_have_count(2)
    await expect(pictures.first).to_have_attribute("alt", "the dot")
    assert await pictures.evaluate_all("all => all.map((each) => each.naturalWidth)") == [1, 1]
    await talk.tool.locator("summary").click()
    output = talk.tool.get_by_label("Output of draw")
    await expect(output).to_contain_text("a dot")
    # The bytes of what is drawn are not read; of what is not drawn, nothing is left out.
    written = json.loads(await output.inner_text())
    assert DOT not in json.dumps(written)
    assert written["page"] == OUTPUT["page"]
    assert await violations(talk.page) == []


async def test_plans_and_states_are_shown(new_talk: NewTalk) -> None:
    talk = await with_history(new_talk)
    steps = talk.answer.get_by_role("region", name="Plan").get_by_role("listitem")
    await expect(steps).to_have_text(
        ["read the pages done", "write the answer under way", "check it to do"]
    )
    state = talk.answer.get_by_text("The agent's state")
    await state.click()
    await expect(talk.answer.get_by_role("group", name="The agent's state")).to_contain_text("calm")
    assert await violations(talk.page) == []


async def test_the_input_of_a_tool_grows_before_the_eyes_of_the_user(talk: Talk) -> None:
    await talk.page.evaluate(WRITTEN)
    await talk.ask("what is 1+1?")

    async def write(kind: str, **fields: Any) -> None:
        await talk.page.evaluate("(chunk) => window.write(chunk)", {"type": kind} | fields)

    await write("start", messageId="m1")
    await write("tool-input-start", toolCallId="c1", toolName="search", dynamic=True)
    state = talk.tool.locator(".state")
    await expect(state).to_have_text("writing its input")
    await talk.tool.locator("summary").click()
    for delta, seen in (
        ('{"query": "a lo', '{"query":"a lo'),
        ("ng way", '{"query":"a long way'),
    ):
        await write("tool-input-delta", toolCallId="c1", inputTextDelta=delta)
        await expect(talk.tool.get_by_label("Input of search")).to_have_text(seen)
    whole = {"query": "a long way"}
    await write(
        "tool-input-available", toolCallId="c1", toolName="search", input=whole, dynamic=True
    )
    await expect(state).to_contain_text("running")
    assert await violations(talk.page) == []
    await write("tool-output-available", toolCallId="c1", output="found", dynamic=True)
    await write("finish")
    await talk.page.evaluate("() => window.end()")
    await expect(state).to_contain_text("done")
    await talk.until_idle()
