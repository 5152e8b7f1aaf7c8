"""A session of six turns: what each of them fetched, and how much of its prompt is new."""

import datetime
import tempfile
from pathlib import Path

import cuecard
from cuecard.stores import TodoItem, open_store

now = datetime.datetime(2026, 11, 29, 22, 50, tzinfo=datetime.UTC)


@cuecard.provider("repairs", scope=cuecard.Scope.SESSION)
def workshop(request: cuecard.ProviderRequest) -> dict[str, object]:  # would ask a database
    return {"repairs": [{"number": 4711, "bicycle": "a red tandem", "state": "wheels are out"}]}


@cuecard.provider("weather")
def forecast(request: cuecard.ProviderRequest) -> dict[str, object]:
    raise AssertionError("no template reads it, so nobody calls it")


plan = [TodoItem(step) for step in ("Find the tandem", "Ask for the price", "Write to the owner")]
done = [TodoItem("Find the tandem", "completed"), *plan[1:]]
with tempfile.TemporaryDirectory() as folder:
    try:
        store = open_store(f"sqlite:{folder}/memory.db")
    except cuecard.MissingExtraError:  # without the extra `stores`
        store = open_store(f"file:{folder}/memory")
    renderer = cuecard.PromptRenderer([workshop, forecast], store=store, clock=lambda: now)
    agent, before = cuecard.load_agent(Path(__file__).with_name("agent.md")), {}
    print("store", type(store).__name__)
    for event, act in {
        "the session begins": lambda: None,
        "the model writes a plan": lambda: store.set_todos("s1", plan),
        "the model takes a note": lambda: store.append_note("spoke", "ann", "Rides a tandem."),
        "nothing happened": lambda: None,
        "a step is done": lambda: store.set_todos("s1", done),
        "midnight is over": lambda: None,
    }.items():
        act()
        prompt = renderer.prompt(agent, {"id": "s1", "time_zone": "UTC"}, "ann")
        print(f"\n{now:%H:%M} {event}")
        for state in ("called", "kept", "skipped"):
            names = [run.provider for run in prompt.providers if run.state == state]
            print(f"  {state:8}", *(names or "-"))
        texts = {s.span: prompt.text[s.start : s.end] for s in prompt.segments}
        new = sum(len(text) for span, text in texts.items() if before.get(span) != text)
        print(f"  rendered {new} of {len(prompt.text)} characters anew")
        before, now = texts, now + datetime.timedelta(minutes=14)
