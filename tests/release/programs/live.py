"""`live`: providers that wait, in an event loop, and zones where the machine knows none."""

import asyncio
import datetime
import zoneinfo

import cuecard

zoneinfo.reset_tzpath(())  # as on a machine without a database of its own


@cuecard.provider("weather")
async def station(request: cuecard.ProviderRequest) -> dict[str, str]:
    """Waits for its answer."""
    await asyncio.sleep(0)
    return {"weather": "snow"}


@cuecard.provider("mood")
def slow(request: cuecard.ProviderRequest) -> dict[str, str]:
    """Is run in a thread."""
    return {"mood": "calm"}


now = datetime.datetime(2026, 11, 29, 18, 42, tzinfo=datetime.UTC)
renderer = cuecard.PromptRenderer([station, slow], zone="Asia/Tokyo", clock=lambda: now)
text = asyncio.run(renderer.arender("{{ current_time }} {{ weather }} {{ mood }}"))
assert text == "03:42 snow calm", text
