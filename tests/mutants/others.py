"""The faults of what stands around: access, identity, the relay, the connection."""

from typing import Final

from mutants.mutant import Mutant

_ACCESS: Final = ("web/test_identity.py", "web/test_refusals.py")
_OBJECTS: Final = ("attacks/test_object_level_access.py",)
_HTTP: Final = ("attacks/test_request_smuggling.py",)
_SLOW: Final = ("attacks/test_slow_requests.py",)
_CLIENT: Final = ("relay/test_client_writer.py", "relay/test_slow_client.py")

OTHERS: Final = (
    Mutant(
        "a newcomer's id may go on",
        "web/access.py",
        "_SESSION_ID.fullmatch(given)",
        "_SESSION_ID.match(given)",
        _ACCESS,
    ),
    Mutant(
        "a viewer may prompt",
        "web/access.py",
        "    if grant.role < least:\n",
        "    if least < Role.VIEWER:\n",
        _OBJECTS,
    ),
    Mutant(
        "a star reaches orchestrators",
        "web/access.py",
        'None if orchestrator else sessions.get("*")',
        'sessions.get("*")',
        _ACCESS,
    ),
    Mutant(
        "a grant counts for every session",
        "web/access_cache.py",
        'f"{session_id} {caller.token}"',
        'f"{caller.token}"',
        ("web/test_access_cache.py",),
    ),
    Mutant(
        "the control plane's redirects are followed",
        "web/http_client.py",
        "follow_redirects=False",
        "follow_redirects=True",
        ("attacks/test_redirects.py",),
    ),
    Mutant(
        "critical fields are ignored",
        "web/identity.py",
        "        if header.crit is not UNSET:\n",
        "        if header.crit is None:\n",
        ("web/test_forgeries.py",),
    ),
    Mutant(
        "a token need not expire",
        "web/identity.py",
        '"require": ["exp", "sub"]',
        '"require": ["sub"]',
        _ACCESS,
    ),
    Mutant(
        "the audience is not looked at",
        "web/identity.py",
        '"verify_aud": self._audience is not None',
        '"verify_aud": False',
        ("web/test_forgeries.py",),
    ),
    Mutant(
        "one of two tokens is taken",
        "web/identity.py",
        "    if len(authorization) != 1:\n",
        "    if not authorization:\n",
        _ACCESS,
    ),
    Mutant(
        "the agent's answer to our own token is the user's",
        "web/calling.py",
        'if agent_auth == "forward" and status in DIAL_REFUSALS:',
        "if status in DIAL_REFUSALS:",
        ("relay/test_dial.py",),
    ),
    Mutant(
        "a slow client does not pause the agent",
        "relay/stream.py",
        "            self._upstream.pause()\n",
        "            pass\n",
        _CLIENT,
    ),
    Mutant(
        "nobody hears that the client left",
        "relay/stream.py",
        "        self._do_or_fail(partial(self.turn.client_left, stalled=is_stalled))\n",
        "        self._do(Act())\n",
        ("relay/test_endings_of_the_client.py",),
    ),
    Mutant(
        "a dial has no limit",
        "relay/stream.py",
        "        if now >= self._dial_until:\n",
        "        if now >= NEVER:\n",
        ("relay/test_dial.py",),
    ),
    Mutant(
        "what is held is written out of order",
        "relay/client.py",
        "piece = self._pending.popleft()",
        "piece = self._pending.pop()",
        _CLIENT,
    ),
    Mutant(
        "a redirect of the agent is any failure",
        "relay/library.py",
        "DialFailure.REDIRECT if is_redirect",
        "DialFailure.STATUS if is_redirect",
        ("relay/test_dial.py",),
    ),
    Mutant(
        "a head is not looked at",
        "web/http.py",
        "        self._check()\n        # Not before",
        "        # Not before",
        _HTTP,
    ),
    Mutant(
        "an error is written into an open stream",
        "web/http.py",
        "if not self._is_idle and self.cycle.response_started:",
        "if False:",
        _HTTP,
    ),
    Mutant(
        "a head has all the time it wants",
        "web/http.py",
        "            self._expect(self.head_s)\n        self._extensions",
        "            pass\n        self._extensions",
        _SLOW,
    ),
    Mutant(
        "a refused body has all the time it wants",
        "web/http.py",
        "            self._expect(BODY_S)\n",
        "            pass\n",
        _SLOW,
    ),
)
