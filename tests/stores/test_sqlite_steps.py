"""Work does not grow with the number of statements where little is hidden, met or forgotten.

The tests count steps of SQLite's virtual machine: they are the same on every machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from itertools import product
from typing import Any

import pytest

from recallm.model import Filter, Horizon, PreparedUpdate, Selection
from recallm.stores.base import GraphReader
from recallm.stores.semantics import applying
from recallm.stores.semantics.writing import antecedents
from recallm.stores.sqlite import SQLiteStore, view
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import NOON, Space, at

pytestmark = pytest.mark.slow

SMALL, LARGE = 400, 2_000
EXPIRED = Horizon(now=at(10))
KEYS = [number << 20 for number in range(2, 12)]


def filled(size: int) -> SQLiteStore:
    """A hub in every statement; the first passage expires, the second one alone is Eve's."""
    store = SQLiteStore()
    first = {
        "entities": (entity("e", "Eve"), entity("f", "Fay")),
        "triplets": (triplet("e", "met", "f"),),
    }
    updates = [
        prepared("0", "[Ann] met [Bo]", expires_at=at(1), session="s0", **first),  # type: ignore[arg-type]
        prepared(
            "1", "[Ann] met [Bo]", speaker="Eve", session="only", metadata={"page": "only"},
            timestamp=NOON, path=("only",), key="k",
        ),
    ]  # fmt: skip
    updates += [
        prepared(
            str(number), f"[Ann] met [C{number}]", speaker="Ann", session=f"s{number // 50}",
            metadata={"page": number}, timestamp=at(number), path=("many",), key=f"k{number}",
        )
        for number in range(2, size)
    ]  # fmt: skip
    store.apply("n", updates)
    Space(store, "n").revise("ann", size)
    return store


@pytest.fixture(scope="module")
def stores() -> Any:
    with closing(filled(SMALL)) as small, closing(filled(LARGE)) as large:
        yield small, large


def steps(store: SQLiteStore, horizon: Horizon, ask: Callable[[GraphReader], object]) -> int:
    """Hundreds of steps that opening a reader and a question take."""

    def read() -> None:
        with store.reader("n", horizon) as reader:
            ask(reader)

    return steps_of(store, read)


def steps_of(store: SQLiteStore, work: Callable[[], object]) -> int:
    """Hundreds of steps that work takes."""
    counted = 0

    def count() -> int:
        nonlocal counted
        counted += 1
        return 0

    connection = store._connections._current  # type: ignore[attr-defined]
    connection.set_progress_handler(count, 100)
    try:
        work()
    finally:
        connection.set_progress_handler(None, 0)
    return counted


QUESTIONS: dict[str, Callable[[GraphReader], object]] = {
    "postings": lambda reader: reader.postings(["met"], limit=20, where=Filter()),
    "mentions": lambda reader: reader.mentions(["ann"], limit=20, where=Filter()),
    "concepts": lambda reader: reader.concepts(["ann", "bo", "c2"]),
    "latest concepts": lambda reader: reader.concepts(limit=5),
    "relations": lambda reader: reader.relations(["ann"], limit=20),
    "statements": lambda reader: reader.statements(KEYS),
    "sizes": lambda reader: reader.sizes(["=s0"]),
    "passages": lambda reader: reader.passages(Filter(), limit=5),
    "entities": lambda reader: reader.entities(["e"]),
    "triplets": lambda reader: reader.triplets(subjects=["e"]),
    "evidence": lambda reader: reader.triplet_evidence(subjects=["e"], predicates=["met"]),
    "words": lambda reader: reader.entities_by_words(["eve", "fay"], limit=9),
}


def grown(
    stores: tuple[SQLiteStore, SQLiteStore],
    horizon: Horizon,
    ask: Callable[[GraphReader], object],
) -> str | None:
    """How the steps grow from the small store to the large one; None where they do not."""
    small, large = (steps(store, horizon, ask) for store in stores)
    return f"{small} -> {large}" if large > 1.5 * small + 5 else None


def test_one_expired_passage_makes_nothing_scan(stores: tuple[SQLiteStore, SQLiteStore]) -> None:
    found = {what: grown(stores, EXPIRED, ask) for what, ask in QUESTIONS.items()}
    assert found == dict.fromkeys(QUESTIONS)


def test_stats_count_no_more_than_before(stores: tuple[SQLiteStore, SQLiteStore]) -> None:
    """An expired passage adds nothing to what ``stats`` counts."""
    _, large = stores
    expired, plain = (
        steps(large, horizon, lambda reader: reader.stats()) for horizon in (EXPIRED, Horizon())
    )
    assert expired <= plain + 5


FILTERS = (
    Filter(speaker="Nobody"),
    Filter(speaker="Eve"),
    Filter(session="none"),
    Filter(session="only"),
    Filter(metadata={"page": -1}),
    Filter(metadata={"page": "only"}),
    Filter(metadata={"pages": 1}),
    Filter(metadata={"page": 7}),
    Filter(since=at(99_999)),
    Filter(since=at(SMALL * 100)),
    Filter(until=at(-5)),
    Filter(until=NOON),
    Filter(path=("none",)),
    Filter(path=("only",)),
    Filter(speaker="Ann", session="none"),
    Filter(speaker="Eve", path=("only",), metadata={"page": "only"}),
)


def test_filters_that_little_meets_make_nothing_scan(
    stores: tuple[SQLiteStore, SQLiteStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view, "FEW", 100)
    asked: tuple[Callable[[GraphReader, Filter], object], ...] = (
        lambda reader, where: reader.postings(["met"], limit=20, where=where),
        lambda reader, where: reader.mentions(["ann"], limit=20, where=where),
        lambda reader, where: reader.passages(where),
        lambda reader, where: reader.t_indexes(where),
    )
    for horizon, where, ask in product((Horizon(), EXPIRED), FILTERS, asked):
        found = grown(stores, horizon, lambda reader, ask=ask, where=where: ask(reader, where))  # type: ignore[misc]
        assert found is None, (horizon, where)


@pytest.mark.parametrize("which", ["forget", "replace"])
def test_forgetting_an_update_does_not_count_what_its_concepts_have_left(which: str) -> None:
    """Ann, Bo and their relation are in every statement."""
    taken = []
    for size in (SMALL, LARGE):
        with closing(SQLiteStore()) as store:
            texts = [
                prepared(str(n), "[Ann] met [Bo]", path=("p",), key=f"k{n}") for n in range(size)
            ]
            store.apply("n", texts)
            late = size - 5
            new = prepared("new", "[Ann] met [Bo]", path=("p",), key=f"k{late}")
            work: Callable[[], object]
            if which == "forget":
                work = partial(store.forget, "n", Selection(kind="id", value=str(late)))
            else:
                work = partial(store.apply, "n", [new])
            taken.append(steps_of(store, work))
            with store.reader("n") as reader:
                (relation,) = reader.relations(["ann"])
                (ann,) = reader.concepts(["ann"])
            left = size - (which == "forget")
            assert (relation.strength, ann.updates, ann.statements) == (left, left, left)
    small, large = taken
    assert large <= 1.5 * small + 5


HUB_QUESTIONS: dict[str, Callable[[GraphReader], object]] = {
    "subject and predicate": lambda reader: reader.triplet_evidence(
        subjects=["hub"], predicates=["rare"]
    ),
    "object and predicate": lambda reader: reader.triplet_evidence(
        objects=["hub"], predicates=["rare"]
    ),
    "subject and object": lambda reader: reader.triplet_evidence(subjects=["0"], objects=["hub"]),
    "predicate": lambda reader: reader.triplet_evidence(predicates=["rare"]),
    "words": lambda reader: reader.entities_by_words(["common"], limit=5),
}


def with_hub(size: int) -> SQLiteStore:
    """An entity with two rare facts and as many others as there are further entities."""
    store = SQLiteStore()
    ends = [entity(str(n), f"Common {n}", f"common {n}") for n in range(size)]
    rare = (triplet("0", "rare", "hub"), triplet("hub", "rare", "0"))
    first = prepared("first", "[Hub]", entities=(entity("hub", "Hub"), *ends))
    facts = prepared("facts", "[Hub]", triplets=rare)
    others = [
        prepared(
            str(n),
            "[Hub]",
            triplets=(triplet(str(n), "many", "hub"), triplet("hub", "many", str(n))),
            expires_at=None if n else at(1),
        )
        for n in range(size)
    ]
    store.apply("n", [first, facts, *others])
    return store


def test_facts_of_hubs_are_read_without_their_other_facts() -> None:
    with closing(with_hub(SMALL)) as small, closing(with_hub(LARGE)) as large:
        horizons = (Horizon(), Horizon(as_of=2), EXPIRED)
        for horizon, (what, ask) in product(horizons, HUB_QUESTIONS.items()):
            assert grown((small, large), horizon, ask) is None, (horizon, what)
            with large.reader("n", horizon) as reader:
                assert ask(reader)


def test_what_pending_updates_refer_to_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not again for each passage that a batch replaces."""
    read: list[PreparedUpdate] = []

    def counted(updates: Iterable[PreparedUpdate]) -> set[str]:
        updates = list(updates)
        read.extend(updates)
        return antecedents(updates)

    monkeypatch.setattr(applying, "antecedents", counted)
    ids = [str(number) for number in range(50)]
    with closing(SQLiteStore()) as store:
        store.apply("n", [prepared(id, "[Ann] met [Bo]") for id in ids])
        read.clear()
        store.apply("n", [prepared(id, "[Ann] met [Cid]", replaces=True) for id in ids])
    assert len(read) == 2 * len(ids)
