"""The clock: what time it is somewhere. The time itself is given, so that tests can choose it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import ToolFailed


def tell_time(args: Json, *, now: Callable[[], datetime]) -> Json:
    place = str(args.get("place", "UTC"))
    zone = _PLACES.get(_plain(place)) or _zones().get(_plain(place))
    if zone is None:
        raise ToolFailed(f"I know no time zone called {place[:60]!r}.")
    there = now().astimezone(ZoneInfo(zone))
    return {
        "zone": zone,
        "time": there.strftime("%H:%M"),
        "day": there.strftime("%A, %d %B %Y"),
        "utcOffset": there.strftime("%z"),
    }


_PLACES: Final[Mapping[str, str]] = {
    "beijing": "Asia/Shanghai",
    "california": "America/Los_Angeles",
    "delhi": "Asia/Kolkata",
    "germany": "Europe/Berlin",
    "india": "Asia/Kolkata",
    "japan": "Asia/Tokyo",
    "mumbai": "Asia/Kolkata",
    "san francisco": "America/Los_Angeles",
    "spain": "Europe/Madrid",
    "uk": "Europe/London",
}
"""Places people name that the zone database names after another city."""


@cache
def _zones() -> Mapping[str, str]:
    """Zones by full name and by city; of two cities of one name the first zone wins."""
    keys = sorted(available_timezones())
    zones = {_plain(key): key for key in keys}
    for key in keys:
        zones.setdefault(_plain(key.rpartition("/")[2]), key)
    return zones


def _plain(place: str) -> str:
    return place.strip().lower().replace("_", " ")
