"""Providers that a package brings: one as a class, one as a function."""

from typing import Any, ClassVar

import cuecard


class WeatherProvider:
    """`weather`, which holds for a day."""

    name = "weather"
    priority = 20
    provides: ClassVar = {"weather": cuecard.Scope.DAY}

    def contribute(self, request: Any) -> dict[str, Any]:
        return {"weather": f"dry on {request.local_time:%d %B}"}


@cuecard.provider("greeting", scope=cuecard.Scope.SESSION)
async def greeting(request: Any) -> dict[str, Any]:
    return {"greeting": f"Hello, {request.user_id}."}
