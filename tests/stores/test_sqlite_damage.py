"""A damaged file says that it is damaged; nothing that it says instead is false."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from recallm.errors import StoreCorruptError
from recallm.model import (
    ConceptRow,
    Entity,
    Filter,
    Passage,
    PreparedUpdate,
    Selection,
    StoredStatement,
    Summary,
    Triplet,
    TripletEvidence,
)
from recallm.stores.base import GraphReader
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite.marked_text import prepared
from tests.store_suite.snapshots import Vocabulary
from tests.stores.damaged import answers, damage, fill, vocabulary, writes

FILES = 200


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Vocabulary, set[str]]]:
    """Two memories, of which the second has a log; what may be asked of each, and all that may be
    said of it."""
    found = []
    for leave_log in (False, True):
        path = tmp_path_factory.mktemp("whole") / "memory.db"
        fill(path, leave_log=leave_log)
        copied = shutil.copytree(path.parent, tmp_path_factory.mktemp("copy") / "c") / path.name
        # What a damaged log held is lost: the memory is as it was before.
        before = Path(shutil.copy(path, tmp_path_factory.mktemp("before") / path.name))
        known = vocabulary(copied)
        states = (answers(copied, known), answers(before, known))
        found.append((path, known, {each for state in states for each in said(state.values())}))
    return found


def said(values: Iterable[Any]) -> Iterator[str]:
    """What answers say in words, without their numbers: those of indexes have no checksums."""
    for value in values:
        match value:
            case StoredStatement():
                yield repr((value.id, value.text, value.timestamp, value.speaker, value.metadata))
                yield repr((value.id, value.terms, value.concepts, value.traits, value.session_key))
            case Passage() | Summary():
                yield repr(value)
            case ConceptRow():
                yield repr((value.name, value.label, value.kind))
            case Entity():
                yield repr((value.id, value.type, value.label, value.concept, value.properties))
            case Triplet():
                yield repr((value.subject, value.predicate, value.object, value.properties))
            case TripletEvidence():
                yield repr(value._replace(passage=None, timestamp=None, source=None))
                if value.passage is not None:
                    yield repr((value.passage, value.timestamp, value.source))
            case PreparedUpdate():
                yield repr((value.id, value.text, value.neighbours, value.metadata, value.path))
                yield from (repr((value.id, each)) for each in value.statements)
                yield from (repr((value.id, each)) for each in value.vectors)
                yield from (repr((value.id, each)) for each in value.entities)
                yield from (repr((value.id, each)) for each in value.triplets)
            case bytes() | str():
                yield repr(value)
            case dict():
                yield from said(value.values())
            case list() | tuple():
                yield from said(value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "files", [range(16), pytest.param(range(16, FILES), marks=pytest.mark.nightly)]
)
def test_nothing_false_is_said(
    sources: list[tuple[Path, Vocabulary, set[str]]], tmp_path: Path, files: range
) -> None:
    """Of files damaged by chance each answer is an error of the store, or holds nothing but what
    was written (some of it may be missing); writing to them ends well or in such an error."""
    told = broken = 0
    for seed in files:
        chance = random.Random(seed)
        whole, known, allowed = sources[chance.random() < 0.3]
        folder = tmp_path / f"{seed}"
        shutil.copytree(whole.parent, folder)
        damage(chance.choice(sorted(folder.iterdir())), chance)
        shutil.copytree(folder, folder / "written")
        found = answers(folder / whole.name, known)
        false = [each for each in said(found.values()) if each not in allowed]
        assert [each for each in false if each != repr("an error of the store")] == [], seed
        writes(folder / "written" / whole.name)
        told += len(found) > 0
        broken += any(value == "an error of the store" for value in found.values()) or not found
        shutil.rmtree(folder)
    assert told > 0
    assert broken > len(files) // 4


DAMAGED = {
    "a passage's text": "UPDATE passage SET text = replace(text, 'word7', 'word8')",
    "a passage's speaker": "UPDATE passage SET speaker = 'Eve' WHERE speaker = 'Ann'",
    "a passage's metadata": "UPDATE passage SET metadata = '{' WHERE metadata != '{}'",
    "a passage that is gone": "DELETE FROM passage",
    "a statement's span": "UPDATE statement SET stop = stop - 1",
    "a statement's session": "UPDATE statement SET session = session + 1",
    "a stem's postings": "UPDATE term SET newest = substr(newest, 1, length(newest) - 14)",
    "postings of another stem": "UPDATE term SET newest = (SELECT newest FROM term LIMIT 1)",
    "a term's total": "UPDATE term SET statements = statements + 1",
    "a vector": "UPDATE vector SET blob = zeroblob(64)",
    "a concept's label": "UPDATE concept SET label = 'Eve'",
}


def test_a_changed_row_is_found_out(tmp_path: Path) -> None:
    """What recall reads is held against its checksum, its total, or what names it."""
    whole, path = tmp_path / "whole.db", tmp_path / "memory.db"
    fill(whole)
    said = dict.fromkeys(DAMAGED, "nothing")
    for what, sql in DAMAGED.items():
        shutil.copy(whole, path)
        with closing(sqlite3.connect(path)) as other:
            other.create_function("crc32", 1, lambda _: 7, deterministic=True)
            other.execute(sql)
            other.commit()
        with closing(SQLiteStore(path)) as store, store.reader("n") as reader:
            try:
                _recall(reader)
            except StoreCorruptError as error:
                said[what] = str(error)
    for what, message in said.items():
        assert re.search(r"is damaged: .*; restore a backup", message), what
        assert str(path) in message, what


def test_a_fault_of_the_caller_is_no_damage(tmp_path: Path) -> None:
    def read(_: GraphReader) -> None:
        raise TypeError("a fault of whoever reads")

    with (
        closing(SQLiteStore(tmp_path / "memory.db")) as store,
        store.reader("n") as reader,
        pytest.raises(TypeError, match="whoever reads"),
    ):
        reader.together(read)


def test_damage_of_postings_is_a_problem(tmp_path: Path) -> None:
    whole, path = tmp_path / "whole.db", tmp_path / "memory.db"
    with closing(SQLiteStore(whole)) as store:
        store.apply("n", [prepared(str(n), f"[Ann] met [Bob] {n}.") for n in range(300)])
        assert store.problems() == []
    for sql in (
        DAMAGED["postings of another stem"],
        "UPDATE concept SET newest = zeroblob(18)",
        "DELETE FROM term_block",
        "UPDATE concept_block SET blob = zeroblob(length(blob))",
    ):
        shutil.copy(whole, path)
        with closing(sqlite3.connect(path)) as other:
            other.create_function("crc32", 1, zlib.crc32, deterministic=True)
            assert other.execute(sql).rowcount, sql
            other.commit()
        with closing(SQLiteStore(path)) as store:
            assert store.problems(), sql


def test_a_changed_index_of_metadata_gives_no_other_passage(tmp_path: Path) -> None:
    """Metadata may say whose a passage is."""
    path = tmp_path / "memory.db"
    with closing(SQLiteStore(path)) as store:
        store.apply("n", [prepared(owner, "[cat]", metadata={"owner": owner}) for owner in "ab"])
    with closing(sqlite3.connect(path)) as other:
        of_first = "(SELECT entry FROM metadata_entry WHERE t = 1)"
        other.execute(f"UPDATE metadata_entry SET entry = {of_first}")
        other.commit()
    where = Filter(metadata={"owner": "a"})
    with closing(SQLiteStore(path)) as store, store.reader("n") as reader:
        for read in (
            lambda: reader.passages(where),
            lambda: reader.t_indexes(where),
            lambda: reader.mentions(["cat"], limit=9, where=where),
        ):
            with pytest.raises(StoreCorruptError, match="metadata"):
                read()


def test_a_namespace_that_its_index_has_lost_is_not_empty(tmp_path: Path) -> None:
    """It would be written as a new one, and erased without its passages."""
    path = tmp_path / "memory.db"
    with closing(SQLiteStore(path)) as store:
        store.apply("alice", [prepared("1", "[Ann]")])
    with closing(sqlite3.connect(path)) as other:
        sql = "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_namespace_1'"
        (root,) = other.execute(sql).fetchone()
    content = path.read_bytes()
    begin, end = 2048 * (root - 1), 2048 * root
    page = content[begin:end].replace(b"alice", b"alicf")
    path.write_bytes(content[:begin] + page + content[end:])
    with closing(SQLiteStore(path)) as store:
        for use in (
            lambda: store.apply("alice", [prepared("2", "[Ann]")]),
            lambda: store.forget("alice", Selection(kind="everything", value=True)),
            lambda: store.reader("alice").__enter__(),
        ):
            with pytest.raises(StoreCorruptError, match="lost a row"):
                use()


def _recall(reader: GraphReader) -> None:
    for stem in ("word7", "name1"):
        postings = reader.postings([stem], limit=99, where=Filter())
        keys = [key for found in postings.values() for key in found.keys.tolist()]
        assert reader.statements(keys)
        assert reader.vectors(keys, model="m")
        reader.concepts([stem])


@pytest.mark.slow
@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.nightly)])
def test_an_index_without_its_order_ends(tmp_path: Path, step: int) -> None:
    """Whoever pages through a damaged index gets an error rather than the same page for ever."""
    path = tmp_path / "memory.db"
    fill(path)
    known = vocabulary(path)
    content = path.read_bytes()
    pages = [content[at : at + 2048] for at in range(0, len(content), 2048)]
    leaves = [number for number, page in enumerate(pages) if number and page[0] == 13]
    for one, other in list(pairwise(leaves))[::step]:
        swapped = list(pages)
        swapped[one], swapped[other] = swapped[other], swapped[one]
        path.write_bytes(b"".join(swapped))
        answers(path, known)
