"""What holds for the page whatever is said: everybody can use it, and it is safe to open."""

import base64
import json
from pathlib import Path
from typing import Any, Final

import httpx
from playwright.async_api import Route, expect

from e2e.axe import violations
from e2e.conftest import NewTalk
from e2e.talking import WIDE, Talk
from turnwire_lab.page.guard import POLICY
from turnwire_lab.stage import Stage

SCHEMES: Final = ("light", "dark")
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_axe_finds_nothing(new_talk: NewTalk) -> None:
    talk = await new_talk(reduced_motion="reduce")
    found: dict[str, list[dict[str, Any]]] = {}

    async def look(state: str) -> None:
        for scheme in SCHEMES:
            await talk.page.emulate_media(color_scheme=scheme)
            found[f"{state}, {scheme}"] = await violations(talk.page)

    await look("welcome")
    await talk.ask_and_wait("think about rivers")
    await talk.ask_and_wait("what is 12*7?")
    await talk.tool.locator("summary").click()
    await look("talk")
    await talk.ask("hang")
    await expect(talk.answer).to_contain_text("until somebody stops me")
    await talk.stop()
    await expect(talk.answer.locator(".ended")).to_be_visible()
    await talk.until_idle()
    await talk.ask("make the turn fail")
    await expect(talk.notice).to_be_visible()
    await look("error")
    await talk.ask("ask me: tea or coffee?")
    tea = talk.page.get_by_role("button", name="tea", exact=True)
    await expect(tea).to_be_visible()
    await look("question")
    await tea.click()
    await talk.until_idle()
    await talk.page.set_viewport_size(WIDE)
    await talk.page.get_by_role("button", name="Wire").click()
    await talk.ask("approve 12*7")
    await expect(talk.page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    await talk.page.get_by_text("Break something").click()
    await talk.page.locator(".rows [data-kind=text-delta] button").first.click()
    await look("wire")
    assert {state: each for state, each in found.items() if each} == {}


async def test_it_fits_a_narrow_screen(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport={"width": 320, "height": 640})
    await talk.ask_and_wait("what is 12*7?")

    wide = "() => document.documentElement.scrollWidth"
    assert await talk.page.evaluate(wide) == 320
    await expect(talk.page.get_by_role("complementary", name="Wire")).to_have_count(0)
    await talk.page.get_by_role("button", name="Wire").click()
    await expect(talk.page.get_by_role("complementary", name="Wire")).to_be_in_viewport(ratio=1)
    await talk.page.get_by_role("button", name="Close the wire view").click()
    sessions = talk.page.get_by_role("button", name="Sessions")
    await sessions.click()
    await expect(talk.page.get_by_role("button", name="New chat").first).to_be_in_viewport()
    await talk.page.keyboard.press("Escape")
    await expect(talk.page.get_by_role("button", name="New chat")).to_have_count(0)
    await expect(sessions).to_be_focused()
    assert await talk.page.evaluate(wide) == 320
    assert await violations(talk.page) == []


async def test_the_wire_leaves_the_chat_its_room(new_talk: NewTalk) -> None:
    talk = await new_talk(viewport={"width": 900, "height": 640})
    await talk.page.get_by_role("button", name="Wire").click()
    wire = talk.page.get_by_role("complementary", name="Wire")
    await wire.get_by_role("searchbox").fill("no such type")
    await talk.ask_and_wait("what is 12*7?")
    await expect(wire.get_by_text("Nothing matches.")).to_be_visible()
    left, chat = await wire.bounding_box(), await talk.page.get_by_role("main").bounding_box()
    assert left is not None
    assert chat is not None
    assert (chat["x"], chat["x"] + chat["width"]) == (0, left["x"])
    await talk.page.get_by_role("button", name="Sessions").click()
    await expect(talk.page.get_by_role("button", name="New chat").first).to_be_in_viewport()
    assert await violations(talk.page) == []


async def test_a_reader_hears_who_speaks_and_no_signs(talk: Talk) -> None:
    await talk.ask_and_wait("what is 6*7?")
    await expect(talk.page.get_by_role("article", name="You")).to_have_text("what is 6*7?")
    await expect(talk.page.get_by_role("article", name="Answer")).to_contain_text("6*7 is 42.")
    said = await talk.page.locator("[data-live]").inner_text()
    assert said.startswith("The agent answered: ")
    assert said.endswith("6*7 is 42.")
    assert "*42*" not in said


async def test_it_works_by_keyboard_alone(talk: Talk) -> None:
    await expect(talk.page.get_by_role("textbox", name="Message")).to_be_focused()
    skip = talk.page.get_by_role("link", name="Skip to the message box")
    await skip.focus()
    await expect(skip).to_be_in_viewport()
    seen = []
    for _ in range(4):
        await talk.page.keyboard.press("Tab")
        focused = "document.activeElement.ariaLabel ?? document.activeElement.innerText"
        seen.append(await talk.page.evaluate(focused))
    assert seen[:3] == ["Theme: system", "Wire", "New chat"]
    await skip.focus()
    await talk.page.keyboard.press("Enter")
    await talk.page.keyboard.type("what is 1+1?")
    await talk.page.keyboard.press("Enter")
    await expect(talk.answer).to_contain_text("1+1 is 2.")


async def test_the_theme_is_chosen_and_kept(talk: Talk) -> None:
    background = "() => getComputedStyle(document.body).backgroundColor"
    light = await talk.page.evaluate(background)
    for name in ("system", "light"):
        await talk.page.get_by_role("button", name=f"Theme: {name}").click()
    dark = await talk.page.evaluate(background)
    assert dark != light
    await talk.reload()
    await expect(talk.page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert await talk.page.evaluate(background) == dark


async def test_its_policy_holds(talk: Talk) -> None:
    blocked = """async () => {
        const tried = document.createElement("style");
        tried.textContent = "body { color: red }";
        document.head.append(tried);
        const found = {style: tried.sheet !== null};
        // Not in this function itself, which the debugger exempts.
        found.eval = await new Promise((resolve) => setTimeout(() => {
            try { resolve(window.eval("1") === 1) } catch { resolve(false) }
        }));
        try { document.body.innerHTML += ""; found.html = true } catch { found.html = false }
        return found;
    }"""
    talk.expects("(?i)content security policy|trustedhtml|trustedscript|inline style|violation: ")
    assert await talk.page.evaluate(blocked) == {"style": False, "eval": False, "html": False}


async def test_a_script_that_was_slipped_in_does_not_run(talk: Talk) -> None:
    slipped = '<script>window.owned = true</script><p onclick="window.owned = true">me</p>'

    async def slip(route: Route) -> None:
        response = await route.fetch()
        written = (await response.text()).replace("<body>", f"<body>{slipped}")
        await route.fulfill(response=response, body=written)

    talk.expects("(?i)violation: script-src|content security policy")
    await talk.page.route(f"{talk.url}?session=*", slip)
    await talk.reload()
    await expect(talk.page.get_by_role("heading", name="Any AI SDK client")).to_be_visible()
    await talk.page.get_by_text("me", exact=True).click()
    assert await talk.page.evaluate("() => window.owned") is None
    refused = [each for each in talk.troubles if "violation:" in each]
    assert sorted(each.split(": ", 2)[2] for each in refused) == [
        "script-src-attr inline",
        "script-src-elem inline",
    ]


async def test_a_whole_tour_violates_no_policy(new_talk: NewTalk, tmp_path: Path) -> None:
    """What `Talk.check` holds for every test, held for everything that a page can show."""
    talk = await new_talk(viewport=WIDE)
    picture = tmp_path / "dot.png"
    picture.write_bytes(DOT)
    async with talk.page.expect_file_chooser() as chooser:
        await talk.page.get_by_role("button", name="Attach a file").click()
    await (await chooser.value).set_files(picture)
    for prompt in (
        "describe these files",
        "send me a picture",
        "send me a file",
        "cite two sources",
        "think about rivers",
        "search for keepalive",
        "make the tool fail",
    ):
        await talk.ask(prompt)
        await expect(talk.prompts.last).to_contain_text(prompt)
        await talk.until_idle()
    await talk.page.locator(".rows [data-kind=text-delta] button").first.click()
    await talk.page.get_by_role("button", name="Theme: system").click()
    await talk.page.get_by_role("button", name="New chat").first.click()
    await talk.reload()
    await expect(talk.page.get_by_role("heading", name="Any AI SDK client")).to_be_visible()
    assert talk.troubles == []


async def test_what_its_server_says_and_refuses(stage: Stage) -> None:
    assert stage.page is not None
    async with httpx.AsyncClient(base_url=stage.page.url, trust_env=False) as http:
        page = await http.get("/")
        stranger = await http.get("/lab/setup", headers={"host": "attacker.example"})
        wire = await http.get("/lab/wire")
        fault = {"session": "x", "fault": "agent-dies"}
        unsigned = await http.post("/lab/faults", json=fault)
        token = (await http.get("/lab/setup")).json()["token"]
        signed = {"authorization": f"Bearer {token}"}
        unknown = await http.post("/lab/faults", json=fault | {"fault": "?"}, headers=signed)
        foreign = await http.get("/api/sessions/x/messages")

    assert page.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert page.headers["cache-control"] == "no-store"
    assert "<script>" not in page.text
    assert "style=" not in page.text
    assert stranger.status_code == 400
    assert (wire.status_code, unsigned.status_code) == (401, 401)
    assert unknown.status_code == 400
    assert (foreign.status_code, json.loads(foreign.text)["code"]) == (401, "unauthorized")
