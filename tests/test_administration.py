"""Namespaces, sessions, copies and receipts: what those who administer a memory call."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest

from recallm import ArchiveError, InvalidInputError, NewEntity, RecallM, StoreError
from tests.store_suite.dict_store import DictStore

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def _filled(memory: RecallM) -> RecallM:
    memory.update("Ann moved to Lisbon.", speaker="Ann", source="m1", timestamp=NOON)
    memory.update(
        "I live in Porto now.", speaker="Ann", source="m2", timestamp=NOON + timedelta(minutes=5)
    )
    memory.update("The kettle boils.", session="kitchen", metadata={"room": 1})
    memory.graph.upsert([NewEntity(id="Ann", type="person")])
    return memory


def test_sessions_are_listed_with_their_passages() -> None:
    memory = _filled(RecallM())
    latest, first = memory.sessions()
    assert (latest.name, latest.passages, latest.began) == ("kitchen", 1, None)
    assert (first.name, first.passages, first.first_t, first.t_index) == ("m1", 2, 1, 2)
    assert (first.began, first.ended) == (NOON, NOON + timedelta(minutes=5))
    assert memory.sessions(limit=1) == (latest,)
    assert [session.passages for session in memory.sessions(as_of=1)] == [1]
    assert len(memory.passages(session=first.name)) == first.passages
    assert memory.in_namespace("another").sessions() == ()
    with pytest.raises(InvalidInputError, match="limit"):
        memory.sessions(limit=-1)


def test_namespaces_are_listed() -> None:
    memory = RecallM(namespace="b")
    assert memory.namespaces() == ()
    memory.update("Ann sings.")
    memory.in_namespace("a").update("Bob sings.")
    assert memory.namespaces() == ("a", "b")


@pytest.mark.parametrize("store", ["memory", "file", "other"])
def test_an_archive_makes_an_equal_memory(tmp_path: Path, store: str) -> None:
    opened = {"memory": None, "file": tmp_path / "two.db", "other": DictStore()}[store]
    archive = StringIO()
    with _filled(RecallM(tmp_path / "one.db")) as memory, RecallM(opened, namespace="ann") as other:
        assert memory.export(archive) == 4
        archive.seek(0)
        assert other.load(archive) == 4
        assert other.passages() == memory.passages()
        assert other.stats() == memory.stats()
        assert other.sessions() == memory.sessions()
        question = "Where does Ann live?"
        assert other.recall(question).text == memory.recall(question).text
        assert other.update("Ann hums.").t_index == memory.stats().t_index + 1
        archive.seek(0)
        with pytest.raises(InvalidInputError, match="written before"):
            other.load(archive)


def test_an_export_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _filled(RecallM(tmp_path / "one.db")) as memory:
        dump = type(memory._opened.store.reader("default").__enter__()).dump

        def cut(self: object) -> object:
            yield next(iter(dump(self)))  # type: ignore[arg-type]
            raise StoreError("the disk is gone")

        monkeypatch.setattr("recallm.stores.sqlite.reader.SQLiteReader.dump", cut)
        with pytest.raises(StoreError, match="the disk is gone"):
            memory.export(tmp_path / "archive.jsonl")
        assert not [*tmp_path.glob("*.jsonl"), *tmp_path.glob(".*")]


def test_a_user_is_exported_and_erased_with_a_receipt(tmp_path: Path) -> None:
    with RecallM(tmp_path / "m.db") as memory:
        _filled(memory.in_namespace("ann"))
        memory.in_namespace("bob").update("Bob sings.")
        archive = tmp_path / "ann.jsonl"
        handed = memory.export_namespace("ann", archive)
        before = memory.in_namespace("ann").stats()
        taken = memory.erase_namespace("ann")
        assert (handed.action, taken.action) == ("export", "erase")
        assert handed.passages == taken.passages == before.passages == 3
        same = dataclasses.replace(handed, action="erase", at=taken.at)
        assert same == taken
        assert not taken.erasure_pending
        assert "Lisbon" in archive.read_text(encoding="utf-8")
        left = memory.in_namespace("ann").stats()
        assert (left.passages, left.concepts, left.entities) == (0, 0, 0)
        assert memory.in_namespace("bob").stats().passages == 1
        assert b"Lisbon" not in (tmp_path / "m.db").read_bytes()
        nothing = memory.erase_namespace("ann")
        assert nothing.passages == 0
        with pytest.raises(InvalidInputError, match="namespace"):
            memory.erase_namespace("")
        with pytest.raises(ArchiveError):
            memory.export_namespace("bob", tmp_path / "m.db")
