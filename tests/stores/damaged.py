"""A small memory in a file, the file damaged by chance, and all that the store then says."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from recallm.errors import StoreError
from recallm.model import AddVectors, Filter, Horizon, PreparedUpdate, Selection, SetExpiry
from recallm.stores.base import GraphReader
from recallm.stores.sqlite import SQLiteStore
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.snapshots import Vocabulary
from tests.store_suite.topics.base import Space, at, find_passage, revisable, summaries

BROKEN = "an error of the store"
"""What stands for an answer where the store says that the file is damaged."""

_NAMES = [f"name{number}" for number in range(24)]


def fill(path: Path, *, leave_log: bool = False) -> None:
    """Write a memory with a bit of everything; ``leave_log``: half of what is written stays in the
    write-ahead log, as after a crash."""
    chance = random.Random(1)
    with closing(SQLiteStore(path)) as store:
        store.apply("n", list(_updates(chance, 0, 60)))
        Space(store, "n").revise("name1", _latest(store, "name1"))
        if leave_log:
            with closing(sqlite3.connect(path)) as other:
                other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.apply("n", list(_updates(chance, 60, 90)))
        if leave_log:
            for file in (path, path.with_name(path.name + "-wal")):
                shutil.copy(file, file.with_name("copy-" + file.name))
    if leave_log:
        for file in path.parent.glob("copy-*"):
            file.rename(file.with_name(file.name.removeprefix("copy-")))


def damage(path: Path, chance: random.Random) -> str:
    """Damage a file in some place; what was done."""
    content = bytearray(path.read_bytes())
    size = len(content)
    kind = chance.choice(("bits", "bytes", "zeros", "random page", "range", "cut", "swap"))
    page = 2048 * chance.randrange(size // 2048)
    if kind == "bits":
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(size)] ^= 1 << chance.randrange(8)
    elif kind == "bytes":
        for _ in range(chance.randint(1, 40)):
            content[chance.randrange(size)] = chance.randrange(256)
    elif kind == "zeros":
        content[page : page + 2048] = bytes(2048)
    elif kind == "random page":
        content[page : page + 2048] = chance.randbytes(2048)
    elif kind == "range":
        first, length = chance.randrange(size), chance.randint(1, 300)
        content[first : first + length] = chance.randbytes(length)[: size - first]
    elif kind == "cut":
        del content[chance.randrange(1, size) :]
    else:
        other = 2048 * chance.randrange(size // 2048)
        one = content[page : page + 2048]
        content[page : page + 2048] = content[other : other + 2048]
        content[other : other + 2048] = one
    path.write_bytes(content)
    return kind


def vocabulary(path: Path) -> Vocabulary:
    """What may be asked of the memory."""
    with closing(SQLiteStore(path)) as store, store.reader("n") as reader:
        return Vocabulary().add(reader.dump())


def answers(path: Path, known: Vocabulary) -> dict[str, Any]:
    """What the store says of each thing by itself, ``BROKEN`` where it says that it is damaged."""
    try:
        store = SQLiteStore(path, timeout=1)
    except StoreError:
        return {}
    with closing(store):
        try:
            with store.reader("n", Horizon()) as reader:
                return {
                    name: _outcome(lambda ask=ask: ask(reader))  # type: ignore[misc]
                    for name, ask in _questions(known).items()
                }
        except StoreError:
            return {}


def writes(path: Path) -> None:
    """Write to the store; what is damaged may be refused with an error of the store."""
    try:
        store = SQLiteStore(path, timeout=1)
    except StoreError:
        return
    with closing(store):
        chance = random.Random(2)
        for do in (
            lambda: store.apply("n", list(_updates(chance, 90, 95))),
            lambda: store.apply("n", [prepared("p7", "[name1]", replaces=True)]),
            lambda: store.amend("n", SetExpiry(expires_at={"p8": at(0)})),
            lambda: store.amend("n", AddVectors(model="m", vectors={})),
            lambda: store.forget("n", Selection(kind="statement", value="p9#0")),
            lambda: store.forget("n", Selection(kind="concept", value="name3")),
            lambda: store.forget("n", Selection(kind="session", value="s1")),
            lambda: store.forget("n", Selection(kind="before", value=30)),
            lambda: Space(store, "n").delete_graph(entities=["e1", "e2"]),
            lambda: store.forget("n", Selection(kind="everything", value=True)),
        ):
            _outcome(do)


def _updates(chance: random.Random, first: int, stop: int) -> Iterator[PreparedUpdate]:
    for number in range(first, stop):
        sentences = [
            " ".join(f"[{name}]" for name in chance.sample(_NAMES, 3)) + f" word{number}"
            for _ in range(chance.randint(1, 3))
        ]
        ends = [f"e{chance.randrange(8)}" for _ in range(2)]
        yield prepared(
            f"p{number}",
            *sentences,
            speaker=chance.choice((None, "Ann", "Bo")),
            session=f"s{number // 12}" if number % 3 else None,
            timestamp=at(number) if number % 4 else None,
            metadata={"page": number % 7} if number % 2 else {},
            path=("a", f"b{number % 3}"),
            key=f"k{number}" if number % 5 == 0 else None,
            entities=tuple(entity(id, id.upper(), chance.choice(_NAMES)) for id in sorted(ends)),
            triplets=(triplet(ends[0], "met", ends[1]),),
            vectors=tuple(vector(n, chance.randbytes(64)) for n in range(len(sentences))),
        )


def _latest(store: SQLiteStore, name: str) -> int:
    with store.reader("n") as reader:
        row = revisable(reader, name)
    assert row is not None
    return row.t_index


def _questions(known: Vocabulary) -> dict[str, Callable[[GraphReader], Any]]:
    asked: dict[str, Callable[[GraphReader], Any]] = {
        "t_index": lambda reader: reader.state.t_index,
        "passages": lambda reader: reader.passages(Filter()),
        "paths": lambda reader: reader.paths(),
        "moments": lambda reader: reader.t_indexes(Filter()),
        "concepts": lambda reader: reader.concepts(),
        "summaries": lambda reader: dict(summaries(reader, known.concepts)),
        "entities": lambda reader: reader.entities(),
        "triplets": lambda reader: reader.triplets(),
        "evidence": lambda reader: reader.triplet_evidence(),
        "predicates": lambda reader: list(reader.predicates()),
        "words": lambda reader: dict(reader.entities_by_words(_NAMES, limit=99)),
        "all vectors": lambda reader: list(reader.vectors(model="m", after=-1, limit=1000).items()),
        "entity vectors": lambda reader: dict(reader.entity_vectors(model="m")),
        "state": lambda reader: reader.state.vectors,
        "stats": lambda reader: reader.stats(),
        "corpus": lambda reader: reader.sizes().corpus,
        "sessions": lambda reader: dict(reader.sizes(known.sessions).sessions),
        "dump": lambda reader: list(reader.dump()),
        "speaker": lambda reader: reader.passages(Filter(speaker="Ann")),
        "metadata": lambda reader: reader.passages(Filter(metadata={"page": 3})),
        "session": lambda reader: reader.passages(Filter(session="s1")),
    }
    for id in sorted(known.passages):
        asked[f"passage {id}"] = lambda reader, id=id: find_passage(reader, id)  # type: ignore[misc]
    for key in sorted(known.keys):
        asked[f"statement {key}"] = lambda reader, key=key: reader.statements([key])  # type: ignore[misc]
    for stem in sorted(known.stems):
        asked[f"recall of {stem}"] = lambda reader, stem=stem: _recalled(reader, stem)  # type: ignore[misc]
    for name in sorted(known.concepts):
        asked[f"concept {name}"] = lambda reader, name=name: (  # type: ignore[misc]
            reader.concepts([name]),
            reader.mentions([name], limit=9, where=Filter()),
            reader.relations([name], limit=9),
            reader.relations(known.concepts, among=True),
        )
    return asked


def _recalled(reader: GraphReader, stem: str) -> Any:
    """The statements of a stem with their vectors, as recall reads them."""
    found = reader.postings([stem], limit=9, where=Filter())
    keys = [key for postings in found.values() for key in postings.keys.tolist()]
    return found, reader.statements(keys), dict(reader.vectors(keys, model="m"))


def _outcome(do: Callable[[], Any]) -> Any:
    try:
        return do()
    except StoreError:
        return BROKEN
