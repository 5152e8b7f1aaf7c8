"""Who a render is for: ids and time zone, from whatever objects a runtime has for them."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Mapping
from typing import Any

from ..errors import ProviderError
from ..values import freeze_mapping

__all__ = ["agent_id_of", "find_zone", "session_id_of", "state_of", "user_id_of", "zone_of"]


def attribute(value: Any, *names: str) -> Any:
    """The first of these keys or attributes that is there and not None."""
    for name in names:
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def session_id_of(session: Any) -> str | None:
    """A session's id: its `id` or `session_id`; a text is the id itself."""
    if session is None or isinstance(session, str):
        return session
    return _text(attribute(session, "id", "session_id"))


def user_id_of(session: Any, auth: Any) -> str | None:
    """The user's id: `user_id` of the session, else `user_id` or `id` of `auth`, or its text."""
    if session is not None and not isinstance(session, str):
        found = attribute(session, "user_id")
        if found is not None:
            return _text(found)
    if auth is None or isinstance(auth, str):
        return auth
    return _text(attribute(auth, "user_id", "id", "sub"))


def agent_id_of(definition: Any) -> str | None:
    """What a store knows an agent by: its id, else its name."""
    return None if definition is None else _text(definition.id or definition.name)


def zone_of(session: Any, auth: Any, default: datetime.tzinfo | None) -> datetime.tzinfo | None:
    """The user's time zone: `time_zone` of the session or of `auth`, else the default.

    Raises:
        ProviderError: there is no such zone (P306).
    """
    for value in (session, auth):
        if value is None or isinstance(value, str):
            continue
        zone = attribute(value, "time_zone")
        if zone is not None:
            return zone if isinstance(zone, datetime.tzinfo) else find_zone(zone)
    return default


def find_zone(name: str) -> datetime.tzinfo:
    """A time zone of the IANA database, such as `Europe/Berlin`.

    Raises:
        ProviderError: there is no such zone, or no database of zones (P306).
    """
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, OSError, TypeError, ValueError) as error:
        raise ProviderError(
            "there is no such time zone",
            code="P306",
            hint="use a name such as `Europe/Berlin`; where the system has no zones, "
            "install `cuecard[live]`",
        ) from error


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)


_COMPARED = (
    *(str, bool, int, float, type(None), enum.Enum),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
)


def state_of(value: Any) -> Any:
    """What of a session can be compared with what it is later: texts, numbers, dates, zones.

    Lists and mappings are left out: they may be large, and holding on to them would keep a
    conversation alive. Of what cannot be looked into, the state equals no other.
    """
    if value is None or isinstance(value, str):
        return value
    try:
        fields = value if isinstance(value, Mapping) else _fields(value)
        return {key: item for key, item in fields.items() if isinstance(item, _COMPARED)}
    except Exception:
        return object()


def _fields(value: Any) -> Mapping[str, Any]:
    own: Mapping[str, Any] | None = getattr(value, "__dict__", None)
    return freeze_mapping(value) if own is None else own
