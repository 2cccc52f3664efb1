"""The demo's site with the widget."""

import httpx

from gateway.needed import lacking
from turnwire_lab.demo import banner
from turnwire_lab.embed.site import BUILT, Site


async def test_the_demos_site() -> None:
    BUILT.is_file() or lacking("the widget is not built (`make widget` does it)")
    site = Site()
    site.tell(gateway_url="http://127.0.0.1:1", session="s1", token="t1")
    async with site, httpx.AsyncClient(base_url=site.origin, trust_env=False) as http:
        page = await http.get("/")
        token = await http.get("/token", headers={"origin": "https://attacker.example"})
        stranger = await http.get("/token", headers={"host": "attacker.example"})
        script = await http.get("/widget.js")

    assert 'data-session="s1"' in page.text
    assert "http://127.0.0.1:1;" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert token.json() == {"token": "t1"}
    assert "access-control-allow-origin" not in token.headers
    assert stranger.status_code == 400
    assert script.content == BUILT.read_bytes()
    assert site.origin in banner("http://g", "ws://a", "t1", None, site.origin)
