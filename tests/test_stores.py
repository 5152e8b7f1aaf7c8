"""Stores: one suite for files, SQLite and PostgreSQL, asked by methods and in event loops."""

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuecard.errors import StoreError
from cuecard.stores import Stamp, Store, TextKey, TextStore, TodoItem, open_store, read_todos
from cuecard.stores.checks import MAX_TEXT
from cuecard.stores.text_store import joined
from cuecard.stores.todo_lines import format_todos, parse_todos

from .case_files import Case, parameters
from .store_backends import BACKENDS, MODES, Asked, address, address_of

__all__ = ["address"]

LIST = (
    TodoItem("Write the page", "completed"),
    TodoItem("Run the tests", "in_progress", "Running the tests"),
    TodoItem("Publish"),
)

TEXTS = {
    "plain": "likes short answers",
    "empty": "",
    "blanks": "  \n\t x \n\n",
    "line-breaks": "a\r\nb\rc\u2028d\x85e\n",
    "unicode": "é e\u0301 中文 \U0001f469\u200d\U0001f680 \u202e \ufdd0",
    "byte-order-mark": "\ufeffa",
    "byte-order-marks": "\ufeff\ufeffa",
    "html": "<!-- a --> <b>&amp;</b> --> ]]> \\n %s {{ x }}",
    "control": "\x01\x1b[0m\x7f",
    "front-matter": "---\na: 1\n---\nb",
    "sql": "'; DROP TABLE cuecard_entries; --",
}

IDS = {
    "plain": "ann",
    "upwards": "../ann",
    "dot": ".",
    "dots": "..",
    "slash": "/",
    "backslash": "a\\b",
    "drive": "c:",
    "blank": " ",
    "capital": "Ann",
    "capitals": "ANN",
    "device": "con",
    "percent": "%61nn",
    "tilde": "~",
    "suffix": "ann.md",
    "end-dot": "ann.",
    "composed": "\u00e9",
    "decomposed": "e\u0301",
    "line-break": "a\nb",
    "long": "a" * 512,
    "long-other-end": "a" * 511 + "b",
    "long-unicode": "\U0001f600" * 512,
    "long-mixed": "".join(chr(0x4E00 + n * 37 % 20000) for n in range(512)),
}


BAD_IDS: dict[Any, str] = {
    "": "is empty",
    "SECRET" * 100: "has 600 characters",
    "SECRET\0": "holds a NUL character",
    "SECRET\udfff": "holds a lone surrogate",
    7: "must be text, got `int`",
}


@pytest.fixture(params=BACKENDS, scope="module")
def shared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TextStore]:
    """A store of each kind, which the tests share."""
    with open_store(address_of(request.param, tmp_path_factory.mktemp("store"))) as store:
        yield store


@pytest.fixture(params=MODES)
def asked(request: pytest.FixtureRequest, shared: TextStore) -> Asked:
    """Each store, asked in each way, with ids that no other test has."""
    return Asked(shared, request.param, f"{uuid.uuid4().hex} ")


class TestTexts:
    def test_come_back_as_they_were(self, asked: Asked) -> None:
        """Any text is kept to the letter, as notes, as a profile and at the end of notes."""
        for name, text in TEXTS.items():
            asked.set_notes("agent", "ann", text)
            asked.set_profile("ann", text)
            asked.append_note(name, "bob", text)
            asked.append_note(name, "bob", "end")
            assert asked.notes("agent", "ann") == asked.profile("ann") == text, name
            assert asked.notes(name, "bob") == joined(text, "end"), name

    def test_are_none_until_set_and_once_removed(self, asked: Asked) -> None:
        """What was never set is None, and so is what was removed, twice even."""
        assert asked.notes("agent", "ann") is None
        assert asked.profile("ann") is None
        for _ in range(2):
            asked.set_notes("agent", "ann", "a")
            asked.set_notes("agent", "ann", None)
            asked.set_notes("agent", "ann", None)
            assert asked.notes("agent", "ann") is None

    def test_notes_are_added_on_lines_of_their_own(self, asked: Asked) -> None:
        """A line break comes between two notes, unless there is one."""
        for text in ("a", "b\n", "", "c"):
            asked.append_note("agent", "ann", text)
        assert asked.notes("agent", "ann") == "a\nb\nc"

    def test_of_different_kinds_do_not_meet(self, asked: Asked) -> None:
        """Notes, profile and list of one id are three things, and so are the two ids' order."""
        asked.set_notes("x", "y", "notes")
        asked.set_profile("x", "profile")
        asked.set_todos("x", LIST)
        assert asked.notes("y", "x") is None
        assert (asked.notes("x", "y"), asked.profile("x")) == ("notes", "profile")
        assert asked.todos("x") == LIST
        assert asked.todos("y") == ()

    @pytest.mark.parametrize("asked", ["sync"], indirect=True)
    def test_as_long_as_they_may_be(self, asked: Asked) -> None:
        """1,048,576 characters are kept; one more is refused, and changes nothing."""
        whole = "\U0001f600" * MAX_TEXT
        asked.set_notes("agent", "ann", whole)
        asked.set_profile("ann", "a" * (MAX_TEXT - 2))
        refusals: list[Callable[[], Any]] = [
            lambda: asked.append_note("agent", "ann", "b"),
            lambda: asked.set_notes("agent", "ann", whole + "b"),
            lambda: asked.set_profile("ann", whole + "b"),
            lambda: asked.set_todos("s", [TodoItem("a" * MAX_TEXT)]),
        ]
        for refused in refusals:
            with pytest.raises(StoreError, match="would be longer than 1,048,576") as caught:
                refused()
            assert caught.value.code == "P704"
        assert asked.notes("agent", "ann") == whole

    @pytest.mark.parametrize("asked", ["sync"], indirect=True)
    def test_grow_to_the_last_character(self, asked: Asked) -> None:
        """The line break between two notes counts."""
        asked.set_notes("agent", "ann", "a" * (MAX_TEXT - 3))
        with pytest.raises(StoreError):
            asked.append_note("agent", "ann", "bbb")
        asked.append_note("agent", "ann", "bb")
        assert len(asked.notes("agent", "ann")) == MAX_TEXT

    def test_that_cannot_be_kept(self, asked: Asked) -> None:
        """NUL, lone surrogates and other types are refused alike, and not shown."""
        for text in ("SECRET\0", "SECRET\ud800", 1, b"SECRET"):
            for operation, *ids in (
                ("append_note", "agent", "ann"),
                ("set_notes", "agent", "ann"),
                ("set_profile", "ann"),
            ):
                with pytest.raises(StoreError) as caught:
                    getattr(asked, operation)(*ids, text)
                assert caught.value.code == "P705"
                assert "SECRET" not in caught.value.report()


class TestIds:
    def test_of_any_content_are_kept_apart(self, address: str) -> None:
        """Every pair of ids has its own text, whatever a file system would make of them."""
        pairs = [(one, other) for one in IDS.values() for other in ("bob", one)]
        last = {user: str(number) for number, (_, user) in enumerate(pairs)}
        with open_store(address) as store:
            for number, (agent, user) in enumerate(pairs):
                store.set_notes(agent, user, str(number))
                store.set_profile(user, str(number))
                store.set_todos(user, [TodoItem(str(number))])
            for number, (agent, user) in enumerate(pairs):
                assert store.notes(agent, user) == str(number)
                assert store.profile(user) == last[user]
                assert store.todos(user) == (TodoItem(last[user]),)

    @pytest.mark.parametrize("mode", MODES)
    def test_that_cannot_be_kept(self, mode: str, tmp_path: Path) -> None:
        """An id that is none is refused in every operation, and not shown."""
        asked = Asked(open_store(f"file:{tmp_path}"), mode)
        for value, says in BAD_IDS.items():
            for what, operation, *arguments in (
                ("agent", "notes", value, "ann"),
                ("user", "set_notes", "agent", value, "a"),
                ("user", "append_note", "agent", value, "a"),
                ("user", "profile", value),
                ("user", "set_profile", value, None),
                ("session", "todos", value),
                ("session", "set_todos", value, ()),
                ("session", "stamp", None, None, value),
            ):
                with pytest.raises(StoreError, match=f"the {what} id {says}") as caught:
                    asked.ask(operation, *arguments)
                assert caught.value.code == "P604"
                assert "SECRET" not in caught.value.report()
        assert list(tmp_path.iterdir()) == []


class TestTodos:
    def test_are_replaced_as_a_whole(self, asked: Asked) -> None:
        """A list comes back in its order; the next replaces it, and an empty one clears it."""
        asked.set_todos("s", LIST)
        assert asked.todos("s") == LIST
        asked.set_todos("s", iter(LIST[::-1]))
        assert asked.todos("s") == LIST[::-1]
        asked.set_todos("s", ())
        assert asked.todos("s") == ()

    def test_come_back_as_they_were(self, asked: Asked) -> None:
        """Any content and active form is kept to the letter."""
        items = [TodoItem("a", "in_progress", TEXTS["line-breaks"])]
        for text in filter(str.strip, TEXTS.values()):
            items += [
                TodoItem(text),
                TodoItem(text, "completed", "a"),
                TodoItem("a", "pending", text),
            ]
        asked.set_todos("s", items)
        assert asked.todos("s") == tuple(items)

    def test_with_two_in_progress(self, asked: Asked) -> None:
        """A list with two items in progress is refused, and the old one stays."""
        asked.set_todos("s", LIST)
        with pytest.raises(StoreError, match="items 1, 2 are in progress") as caught:
            asked.set_todos("s", [TodoItem("a", "in_progress"), TodoItem("b", "in_progress")])
        assert caught.value.code == "P605"
        assert asked.todos("s") == LIST

    def test_of_something_else(self, asked: Asked) -> None:
        """Only items are taken; the error says where there is something else."""
        with pytest.raises(StoreError, match="item 2 must be a `TodoItem`, got `dict`"):
            asked.set_todos("s", [TodoItem("a"), {"content": "b"}])

    @pytest.mark.parametrize("case", parameters("todos.jsonl"))
    def test_from_data(self, case: Case) -> None:
        """The cases: what a tool call holds as items, or an error that names key and position."""
        check_items(case, lambda: read_todos(case["value"]))

    @pytest.mark.parametrize("case", parameters("todo_lines.jsonl"))
    def test_from_lines(self, case: Case) -> None:
        """The cases: what a person wrote as items, or an error that names the line."""
        check_items(case, lambda: parse_todos(case["text"]))

    @given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
    def test_any_text_stands_on_one_line(self, pairs: list[tuple[str, str]]) -> None:
        """Whatever items hold, there is one line for each, which is read back the same."""
        kept = [(a, b) for a, b in pairs if a.strip() and "\0" not in a + b]
        items = tuple(TodoItem(content, "pending", active) for content, active in kept)
        text = format_todos(items)
        assert parse_todos(text) == items
        assert len(text.splitlines()) == len(items)

    @given(st.text(alphabet='- [] x~"\\(active: )ab'))
    def test_any_line_is_read_or_refused(self, text: str) -> None:
        """A text that a person wrote gives items that are kept the same, or a clear error."""
        try:
            items = parse_todos(f"- [ ] {text}")
        except StoreError as error:
            assert error.code == "P605"  # noqa: PT017 - either way is right
        else:
            assert parse_todos(format_todos(items)) == items

    def test_show_the_active_form_while_in_progress(self) -> None:
        """`display_text` is the active form of the item in progress, else the content."""
        assert [item.display_text for item in LIST] == [
            "Write the page",
            "Running the tests",
            "Publish",
        ]
        assert TodoItem("a").active_form == "a"

    def test_items_check_themselves(self) -> None:
        """An item of a wrong type or status cannot be made."""
        for arguments in ((1,), ("a", "done"), ("a", "pending", 1), ("",)):
            with pytest.raises(StoreError, match="P605"):
                TodoItem(*arguments)


def check_items(case: Case, read: Callable[[], tuple[TodoItem, ...]]) -> None:
    if "items" in case:
        found = [[item.content, item.status, item.active_form] for item in read()]
        assert found == case["items"]
        return
    with pytest.raises(StoreError) as caught:
        read()
    assert caught.value.code == "P605"
    assert case["says"] in caught.value.message
    assert case.get("hint", "") in (caught.value.hint or "")
    assert "SECRET" not in caught.value.report()


class TestStamps:
    def test_change_with_what_they_stand_for(self, asked: Asked) -> None:
        """Each part changes when its text does, and only then; None is no text."""
        seen = [asked.stamp("agent", "ann", "s")]
        assert seen == [Stamp(None, None, None)]
        changes: list[tuple[str, Callable[[], Any]]] = [
            ("notes", lambda: asked.append_note("agent", "ann", "a")),
            ("profile", lambda: asked.set_profile("ann", "a")),
            ("todos", lambda: asked.set_todos("s", LIST)),
            ("notes", lambda: asked.set_notes("agent", "ann", "b")),
            ("todos", lambda: asked.set_todos("s", LIST[:1])),
            ("notes", lambda: asked.set_notes("agent", "ann", None)),
        ]
        for part, change in changes:
            change()
            stamp = asked.stamp("agent", "ann", "s")
            assert hash(stamp) == hash(asked.stamp("agent", "ann", "s"))
            assert getattr(stamp, part) != getattr(seen[-1], part)
            assert stamp._replace(**{part: None}) == seen[-1]._replace(**{part: None})
            seen.append(stamp)
        assert seen[-1].notes is None

    def test_without_some_ids(self, asked: Asked) -> None:
        """What is not asked for is None."""
        asked.set_notes("agent", "ann", "a")
        asked.set_profile("ann", "a")
        asked.set_todos("s", LIST)
        whole = asked.stamp("agent", "ann", "s")
        assert asked.stamp(None, "ann", None) == Stamp(profile=whole.profile)
        assert asked.stamp("agent", None, "s") == Stamp(todos=whole.todos)
        assert asked.stamp("agent", None, None) == Stamp()

    def test_are_never_seen_twice(self, address: str) -> None:
        """Quick changes of one size, with removals between, all differ."""
        with open_store(address) as store:
            stamps = set()
            for number in range(60):
                store.set_notes("agent", "ann", str(number % 10))
                stamps.add(store.stamp("agent", "ann", None).notes)
                if number % 3 == 0:
                    store.set_notes("agent", "ann", None)
        assert len(stamps) == 60


class TestUse:
    @pytest.mark.parametrize("mode", MODES)
    def test_closed_store(self, address: str, mode: str) -> None:
        """A closed store says so, and may be closed again."""
        asked = Asked(open_store(address), mode)
        asked.set_notes("agent", "ann", "a")
        asked.close()
        asked.close()
        calls: list[Callable[[], Any]] = [
            lambda: asked.notes("agent", "ann"),
            lambda: asked.set_notes("agent", "ann", "b"),
            lambda: asked.stamp("agent", "ann", None),
        ]
        for call in calls:
            with pytest.raises(StoreError, match="the store is closed") as caught:
                call()
            assert caught.value.code == "P601"

    def test_another_opening_sees_what_was_written(self, address: str) -> None:
        """What one store wrote is there for the next, and for one that is open beside it."""
        with open_store(address) as one, open_store(address) as other:
            assert other.notes("agent", "ann") is None
            one.set_notes("agent", "ann", "a")
            assert other.notes("agent", "ann") == "a"
        with open_store(address) as third:
            assert third.notes("agent", "ann") == "a"

    @pytest.mark.parametrize("backend", ["asyncio", "trio"])
    def test_many_tasks(self, address: str, backend: str) -> None:
        """Forty tasks at once, writing and reading: every answer is right."""

        async def main() -> None:
            async with open_store(address) as store, anyio.create_task_group() as group:
                for number in range(40):
                    group.start_soon(one_user, store, f"user {number}")

        async def one_user(store: TextStore, user: str) -> None:
            await store.aset_profile(user, f"profile of {user}")
            await store.aappend_note("agent", user, user)
            assert await store.aprofile(user) == f"profile of {user}"
            assert await store.anotes("agent", user) == user

        anyio.run(main, backend=backend)

    @pytest.mark.parametrize("backend", ["asyncio", "trio"])
    def test_cancelled_write_is_done(self, address: str, backend: str) -> None:
        """A write that its task gave up is not left to chance: it is done."""

        async def main() -> None:
            async with open_store(address) as store:
                with anyio.CancelScope() as scope:
                    scope.cancel()
                    await store.aset_notes("agent", "ann", "a")
                assert await store.anotes("agent", "ann") == "a"

        anyio.run(main, backend=backend)

    def test_memory(self) -> None:
        """A store in memory works over threads, and ends with its closing."""
        store = open_store("sqlite::memory:")
        Asked(store, "asyncio").set_notes("agent", "ann", "a")
        assert Asked(store, "trio").notes("agent", "ann") == "a"
        store.close()
        with open_store("sqlite::memory:") as other:
            assert other.notes("agent", "ann") is None

    @pytest.mark.parametrize("case", parameters("store_addresses.jsonl"))
    def test_addresses(self, case: Case) -> None:
        """The cases: which store an address names, or an error without any part of it."""
        if "repr" in case:
            assert repr(open_store(case["address"])) == case["repr"]
            return
        with pytest.raises(StoreError) as caught:
            open_store(case["address"])
        assert caught.value.code == "P602"
        assert case["says"] in caught.value.message
        assert case["hint"] in (caught.value.hint or "")
        assert "SECRET" not in caught.value.report()

    def test_path(self, tmp_path: Path) -> None:
        """A path object names a file."""
        with open_store(tmp_path / "a.db") as store:
            store.set_profile("ann", "a")
        assert (tmp_path / "a.db").is_file()


class DictStore(TextStore):
    """The model: a dictionary, and how often each text was changed."""

    def __init__(self) -> None:
        self.texts: dict[TextKey, str] = {}
        self.changes = 0
        self.marks: dict[TextKey, int] = {}

    def read(self, key: TextKey) -> str | None:
        return self.texts.get(key)

    def write(self, key: TextKey, text: str | None) -> None:
        self.changes += 1
        self.marks[key] = self.changes
        if text is None:
            self.texts.pop(key, None)
        else:
            self.texts[key] = text

    def append(self, key: TextKey, text: str) -> None:
        self.write(key, joined(self.texts.get(key), text))

    def stamps(self, keys: Any) -> list[Any]:
        return [self.marks[key] if key in self.texts else None for key in keys]


_ids = st.sampled_from(["a", "A", "../a", "é", "e\u0301", "~" * 300])
_texts = st.none() | st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8)
_items = st.builds(
    TodoItem,
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1).filter(str.strip),
    st.sampled_from(["pending", "completed"]),
    _texts,
)
_operations = st.one_of(
    st.tuples(st.just("set_notes"), _ids, _ids, _texts),
    st.tuples(st.just("append_note"), _ids, _ids, _texts.filter(lambda text: text is not None)),
    st.tuples(st.just("notes"), _ids, _ids),
    st.tuples(st.just("set_profile"), _ids, _texts),
    st.tuples(st.just("profile"), _ids),
    st.tuples(st.just("set_todos"), _ids, st.lists(_items, max_size=3)),
    st.tuples(st.just("todos"), _ids),
    st.tuples(st.just("stamp"), _ids, _ids, _ids),
)


@pytest.fixture(scope="module")
def all_stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Store]]:
    """One store of each kind."""
    folder = tmp_path_factory.mktemp("stores")
    stores = [open_store(address_of(backend, folder)) for backend in BACKENDS]
    yield list(stores)
    for store in stores:
        store.close()


@settings(max_examples=40)
@given(operations=st.lists(_operations, max_size=15))
def test_all_stores_answer_as_the_model(
    all_stores: list[Store], operations: list[tuple[str, Any]]
) -> None:
    """Whatever is done, every store answers as a dictionary would; stamps agree on changes."""
    model = DictStore()
    run = f"{uuid.uuid4().hex} "
    stamps: dict[Store, dict[Any, Any]] = {store: {} for store in all_stores}
    for name, *arguments in operations:
        ids = {"set_notes": 2, "append_note": 2, "notes": 2, "stamp": 3}.get(name, 1)
        given_ids = [run + value for value in arguments[:ids]]
        expected = getattr(model, name)(*given_ids, *arguments[ids:])
        for store in all_stores:
            answer = getattr(store, name)(*given_ids, *arguments[ids:])
            if name != "stamp":
                assert answer == expected, json.dumps([name, repr(store)])
                continue
            for part, of_store, of_model in zip(given_ids, answer, expected, strict=True):
                assert (of_store is None) == (of_model is None)
                assert stamps[store].setdefault((part, of_model), of_store) == of_store
