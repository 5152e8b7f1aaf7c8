"""Four providers: one for each session, one with a stamp, one that waits, one that fails."""

import asyncio
import logging

import cuecard
from cuecard import Scope


@cuecard.provider("orders", scope=Scope.SESSION)
def orders(request):
    return {"orders": [f"a kettle for {request.user_id}"]}


class Prices:
    """Asked again only when the stamp changes, here the version of the list."""

    def __init__(self):
        self.name, self.provides, self.version = "prices", {"prices": Scope.STATIC}, 1

    def stamp(self, request):
        return self.version

    def contribute(self, request):
        return {"prices": f"list {self.version}"}


@cuecard.provider("weather", timeout=1.0)
async def weather(request):
    await asyncio.sleep(0.01)
    return {"weather": "snow"}


@cuecard.provider("news")
def news(request):
    raise ConnectionError("the words of this error are never shown: they may hold secrets")


logging.getLogger("cuecard").addHandler(logging.NullHandler())
prices = Prices()
renderer = cuecard.PromptRenderer([orders, prices, weather, news], entry_points=False)
text = "{{ orders | join }}; {{ prices }}; {{ weather }}; {{ news }}"
for turn in range(3):
    prices.version = 1 + turn // 2
    prompt = renderer.prompt(text, session="s1", auth="ann")
    states = ", ".join(f"{run.provider} {run.state}" for run in prompt.providers[:4])
    print(f"{prompt.text!r}\n  {states}")
print(*(finding.message for finding in prompt.diagnostics), sep="\n")
