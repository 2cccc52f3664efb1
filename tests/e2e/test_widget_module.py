"""The widget from a module, as its README shows it: packed, installed and bundled by an app."""

import asyncio
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import expect

from e2e.conftest import NewVisit
from gateway.needed import program
from turnwire_lab.embed.site import BUILT

PACKAGE: Final = BUILT.parents[1]
VITE: Final = PACKAGE / "node_modules/vite/bin/vite.js"
CONFIG: Final = """
export default {
  logLevel: "warn",
  build: { lib: { entry: "app.js", formats: ["iife"], name: "app", fileName: () => "app.js" } },
};
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder in which the package is installed."""
    folder = tmp_path_factory.mktemp("app")
    npm = program("npm")
    pack = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder)]
    subprocess.run(pack, cwd=PACKAGE, check=True)
    (tarball,) = folder.glob("*.tgz")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    install = [npm, "install", "--silent", "--offline", "--ignore-scripts", f"./{tarball.name}"]
    subprocess.run(install, cwd=folder, check=True)
    assert {path.name for path in (folder / "node_modules").glob("[!.]*")} == {"turnwire-widget"}
    return folder


def bundled(app: Path, code: str) -> Path:
    (app / "app.js").write_text(code)
    (app / "vite.config.js").write_text(CONFIG)
    subprocess.run([program("node"), str(VITE), "build"], cwd=app, check=True)
    return app / "dist/app.js"


async def test_an_app_mounts_it_as_the_readme_shows(new_visit: NewVisit, app: Path) -> None:
    visit = await new_visit()
    readme = (PACKAGE / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^    import \{ mount \}.*?^(?=\S)", readme, re.DOTALL | re.MULTILINE)
    values = {
        "https://gateway.example": visit.stage.gateway.url,
        "s1": visit.session,
        "/chat-token": f"/token?visit={visit.session}",
    }
    for named, value in values.items():
        assert shown.count(f'"{named}"') == 1
        shown = shown.replace(f'"{named}"', f'"{value}"')
    script = await asyncio.to_thread(bundled, app, shown)
    await visit.page.route("**/widget.js", lambda route: route.fulfill(path=script))
    await visit.page.reload()

    # It opens the panel; its heading is not that of the script's attributes.
    panel = visit.page.get_by_role("dialog", name="Chat", exact=True)
    await panel.get_by_role("textbox", name="Message").fill("what is 12*7?")
    await panel.get_by_role("button", name="Send").click()
    await expect(panel.locator("[data-role=assistant]").last).to_contain_text("12*7 is 84.")
    assert len(visit.runs) == 1
