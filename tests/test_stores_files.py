"""The file store: what a person finds in its folder, and what may not be found there."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.errors import StoreError
from cuecard.stores import FileStore, TodoItem
from cuecard.stores.file_locks import file_lock
from cuecard.stores.file_names import id_of_name, name_of_id

from .store_backends import open_folder, write_limited

__all__ = ["open_folder"]

ITEMS = (TodoItem("a", "completed"), TodoItem("b", "in_progress", "doing b"), TodoItem("c"))


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def names(folder: Path) -> list[str]:
    """All files of a store but its locks."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path.relative_to(folder)) for path in found if ".locks" not in path.parts)


class TestFolder:
    def test_what_is_in_it(self, store: FileStore, tmp_path: Path) -> None:
        """Each text is a Markdown file of its own, named by the ids; nothing else remains."""
        store.set_notes("argus", "ann@example.org", "likes tea\n")
        store.set_profile("ann@example.org", "a dentist")
        store.set_todos("../s", ITEMS)
        folder = tmp_path / "store"
        assert names(folder) == [
            "notes/ann%40example.org/argus.md",
            "profiles/ann%40example.org.md",
            "todos/%2e.%2fs.md",
        ]
        assert (folder / "notes/ann%40example.org/argus.md").read_bytes() == b"likes tea\n"
        assert (folder / "todos/%2e.%2fs.md").read_text() == (
            "- [x] a\n- [~] b (active: doing b)\n- [ ] c\n"
        )

    def test_is_not_made_by_reading(self, store: FileStore, tmp_path: Path) -> None:
        """Who only reads leaves no trace."""
        assert (store.notes("a", "u"), store.profile("u"), store.todos("s")) == (None, None, ())
        assert list(tmp_path.iterdir()) == []

    def test_edited_by_hand(self, store: FileStore, tmp_path: Path) -> None:
        """An edit in an editor is seen, and seen to have happened."""
        store.set_todos("s", ITEMS)
        before = store.stamp(None, None, "s")
        file = tmp_path / "store/todos/s.md"
        file.write_text('# Today\n\n- [x] a\n* [X] b\n- [ ] "d\n')
        assert store.stamp(None, None, "s") != before
        assert [item.content for item in store.todos("s")] == ["a", "b", '"d']
        assert store.todos("s")[1].status == "completed"

    def test_edited_in_an_editor_that_adds_a_mark(self, store: FileStore, tmp_path: Path) -> None:
        """A byte order mark is no part of the text."""
        store.set_profile("ann", "a")
        (tmp_path / "store/profiles/ann.md").write_bytes(b"\xef\xbb\xbfb")
        assert store.profile("ann") == "b"

    def test_stamps_under_a_coarse_clock(
        self, store: FileStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Writes within one tick of the clock, of one size, have stamps of their own."""
        monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
        stamps = set()
        for number in range(20):
            store.set_profile("ann", str(number % 10))
            stamps.add(store.stamp(None, "ann"))
        assert len(stamps) == 20

    def test_locks_do_not_pile_up(self, store: FileStore, tmp_path: Path) -> None:
        """However many keys there are, there are at most 256 locks."""
        for number in range(300):
            store.set_profile(f"user {number}", "a")
        assert len(list((tmp_path / "store/.locks").iterdir())) <= 256


class TestNames:
    @given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=60))
    def test_are_safe_and_reversible(self, value: str) -> None:
        """A name is made of harmless characters and gives its id back, unless it was too long."""
        name = name_of_id(value)
        assert re.fullmatch(r"[a-z0-9_%-][a-z0-9._%~-]*(?<!\.)", name)
        assert len(name) <= 180
        assert id_of_name(name) == value or (id_of_name(name) is None and len(value) > 15)
        assert not re.match(r"(con|nul|aux|prn|com\d|lpt\d)(\.|$)", name)

    @given(st.text("aAbB.%~con/é", min_size=1), st.text("aAbB.%~con/é", min_size=1))
    def test_of_two_ids_differ(self, one: str, other: str) -> None:
        """Two ids never share a name, also where capitals do not count."""
        assert (name_of_id(one).casefold() == name_of_id(other).casefold()) == (one == other)

    @pytest.mark.parametrize("front", ["", "con.", ".", "é" * 3, "a" * 98 + "é"])
    def test_of_long_ids(self, front: str) -> None:
        """A long id is shortened to a readable start and a digest of all of it."""
        ids = [f"{front}{'x' * 400}{end}" for end in "ab"]
        found = [name_of_id(value) for value in ids]
        assert found[0] != found[1]
        for name in found:
            assert re.fullmatch(r"(?!con\.|\.)([a-z0-9._-]|%[0-9a-f]{2})+~[0-9a-f]{64}", name)
            assert id_of_name(name) is None


class TestLinks:
    """Symbolic links in the folder, as one with access to it might plant them."""

    @pytest.fixture
    def outside(self, tmp_path: Path) -> Path:
        folder = tmp_path / "outside"
        folder.mkdir()
        (folder / "ann.md").write_text("SECRET")
        return folder

    @pytest.mark.parametrize("place", ["profiles/ann.md", "profiles"])
    def test_that_lead_out_are_not_followed(
        self, store: FileStore, tmp_path: Path, outside: Path, place: str
    ) -> None:
        """Neither a file nor a folder outside is read, written or removed."""
        link = tmp_path / "store" / place
        link.parent.mkdir(parents=True)
        link.symlink_to(outside / "ann.md" if place.endswith(".md") else outside)
        calls: list[Callable[[], object]] = [
            lambda: store.profile("ann"),
            lambda: store.stamp(None, "ann"),
            lambda: store.set_profile("ann", "b"),
            lambda: store.set_profile("ann", None),
        ]
        for call in calls:
            with pytest.raises(StoreError, match="a symbolic link leads out") as caught:
                call()
            assert caught.value.code == "P607"
            assert "SECRET" not in caught.value.report()
        assert [path.read_text() for path in outside.iterdir()] == ["SECRET"]

    @pytest.mark.parametrize("name", [".ann.md.new", "../.locks"])
    def test_in_the_place_of_what_is_written(
        self, store: FileStore, tmp_path: Path, outside: Path, name: str
    ) -> None:
        """A link where the new file or the lock would be written is not written through."""
        folder = tmp_path / "store/profiles"
        folder.mkdir(parents=True)
        (folder / name).symlink_to(outside / "ann.md" if name.endswith("new") else outside)
        with pytest.raises(StoreError):
            store.set_profile("ann", "b")
        assert [path.read_text() for path in outside.iterdir()] == ["SECRET"]

    def test_within_the_folder(self, store: FileStore, tmp_path: Path) -> None:
        """A link that stays inside is read; a write puts a file in its place."""
        store.set_profile("ann", "a")
        (tmp_path / "store/profiles/bob.md").symlink_to("ann.md")
        assert store.profile("bob") == "a"
        store.set_profile("bob", "b")
        assert (store.profile("ann"), store.profile("bob")) == ("a", "b")

    def test_of_the_folder_itself(self, store: FileStore, tmp_path: Path) -> None:
        """The folder may be a link: whoever named it chose it."""
        store.set_profile("ann", "a")
        (tmp_path / "link").symlink_to(tmp_path / "store")
        assert FileStore(tmp_path / "link").profile("ann") == "a"


class TestFailures:
    @pytest.mark.parametrize(
        ("data", "says"),
        [
            (b"\xff\xfea", "is no text"),
            (b"a\0", "holds a NUL character"),
            (b"a" * ((1 << 20) + 1), "is longer than 1,048,576 characters"),
            (b"a" * (5 << 20), "is longer than 1,048,576 characters"),
        ],
        ids=["no-utf-8", "nul", "long", "very-long"],
    )
    def test_file_that_is_no_text(
        self, store: FileStore, tmp_path: Path, data: bytes, says: str
    ) -> None:
        """What cannot be a text is an error that names the store, and shows nothing of it."""
        store.set_profile("ann", "a")
        (tmp_path / "store/profiles/ann.md").write_bytes(data)
        (tmp_path / "store/todos").mkdir()
        (tmp_path / "store/todos/s.md").write_bytes(data)
        calls: list[Callable[[], object]] = [lambda: store.profile("ann"), lambda: store.todos("s")]
        for call in calls:
            with pytest.raises(StoreError, match=says) as caught:
                call()
            assert caught.value.code == "P607"
            assert caught.value.template == str(tmp_path / "store")
            assert "ann" not in caught.value.report().replace(str(tmp_path), "")

    def test_folder_or_pipe_where_a_file_should_be(self, store: FileStore, tmp_path: Path) -> None:
        """Something that is no file is an error, and nobody waits for it."""
        folder = tmp_path / "store/profiles"
        (folder / "ann.md").mkdir(parents=True)
        os.mkfifo(folder / "bob.md")
        for user in ("ann", "bob"):
            with pytest.raises(StoreError, match="no file where one should be") as caught:
                store.profile(user)
            assert caught.value.code == "P607"

    def test_store_that_is_a_file(self, tmp_path: Path) -> None:
        """A file in place of the folder is an error at reading and at writing."""
        (tmp_path / "file").write_text("a")
        store = FileStore(tmp_path / "file")
        calls: list[Callable[[], object]] = [
            lambda: store.profile("ann"),
            lambda: store.set_profile("ann", "a"),
        ]
        for call in calls:
            with pytest.raises(StoreError, match="P601") as caught:
                call()
            assert isinstance(caught.value.__cause__, OSError)

    def test_held_lock(self, store: FileStore, tmp_path: Path) -> None:
        """Who waits longer than the limit for another writer is told; readers never wait."""
        store.set_profile("ann", "a")
        (lock,) = (tmp_path / "store/.locks").iterdir()
        quick = FileStore(tmp_path / "store", timeout=0.1)
        with file_lock(str(lock), 1):
            begun = time.monotonic()
            with pytest.raises(StoreError, match="another writer held a file"):
                quick.set_profile("ann", "b")
            assert time.monotonic() - begun < 3
            assert quick.profile("ann") == "a"
        quick.set_profile("ann", "b")
        assert store.profile("ann") == "b"

    @pytest.mark.parametrize("how", ["read-only", "full"])
    def test_folder_that_cannot_be_written(self, open_folder: Path, how: str) -> None:
        """Without permission, or without room, a write fails, and the old text stays."""
        store = FileStore(open_folder / "store")
        store.set_profile("ann", "a")
        if how == "read-only":
            for path in (open_folder / "store", *(open_folder / "store").rglob("*")):
                path.chmod(0o555 if path.is_dir() else 0o444)
        found = write_limited(f"file:{open_folder}/store", how, largest=100)
        assert found == ["P606", "PermissionError" if how == "read-only" else "OSError"]
        for path in (open_folder / "store", *(open_folder / "store").rglob("*")):
            path.chmod(0o755)
        assert store.profile("ann") == "a"
        store.set_profile("ann", "b")
        assert store.profile("ann") == "b"
