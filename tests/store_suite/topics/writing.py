"""Knowledge updates: t, batches, duplicates, conflicts, and all or nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recallm.errors import ConflictError, UnknownEntityError
from recallm.model import Horizon, PreparedUpdate
from recallm.stores.base import Applied, GraphStore
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import StoreTests, apply_each, find_passage, forget, snapshot_of


class WritingTests(StoreTests):
    """``GraphStore.apply``."""

    def test_t_counts_updates_from_one(self, store: GraphStore, namespace: str) -> None:
        """Each update takes the next t, in a batch or alone."""
        batch = [prepared("a", "[Ann] sings"), prepared("b", "[Bo] sings")]
        assert store.apply(namespace, batch) == [Applied(t_index=1), Applied(t_index=2)]
        assert apply_each(store, namespace, prepared("c", "[Cy] sings")) == [3]
        with store.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == 3
            assert reader.stats().t_index == 3

    def test_an_empty_batch_writes_nothing(self, store: GraphStore, namespace: str) -> None:
        """An empty batch takes no t and creates no namespace."""
        assert store.apply(namespace, []) == []
        assert namespace not in store.namespaces()

    def test_a_duplicate_changes_nothing(self, store: GraphStore, namespace: str) -> None:
        """The same id with the same text is a duplicate, whatever else differs."""
        apply_each(
            store, namespace, prepared("a", "[Ann] sings to [Bo]"), prepared("b", "[Bo] sleeps")
        )
        before = snapshot_of(store, namespace)
        again = prepared(
            "a",
            "[Ann] sings to [Bo]",
            source="elsewhere",
            metadata={"new": True},
            entities=(entity("e", "Ann"),),
            triplets=(triplet("nobody", "knows", "nobody"),),
        )
        assert store.apply(namespace, [again]) == [Applied(t_index=1, duplicate=True)]
        assert snapshot_of(store, namespace) == before

    def test_duplicates_in_one_batch(self, store: GraphStore, namespace: str) -> None:
        """A duplicate within a batch takes no t."""
        first, second = prepared("a", "[Ann] sings"), prepared("b", "[Bo] sings")
        assert store.apply(namespace, [first, first, second, first]) == [
            Applied(t_index=1),
            Applied(t_index=1, duplicate=True),
            Applied(t_index=2),
            Applied(t_index=1, duplicate=True),
        ]
        with store.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == 2
            assert reader.stats().passages == 2

    def test_a_conflict_names_its_place_and_writes_nothing(
        self, store: GraphStore, namespace: str
    ) -> None:
        """A conflict rolls back the whole batch, which takes no t."""
        apply_each(store, namespace, prepared("a", "[Ann] sings"))
        before = snapshot_of(store, namespace)
        for place in (0, 1, 2):
            batch = [prepared("b", "[Bo] sings"), prepared("c", "[Cy] sings")]
            batch.insert(place, prepared("a", "[Ann] sleeps"))
            with pytest.raises(ConflictError) as caught:
                store.apply(namespace, batch)
            assert (caught.value.id, caught.value.index) == ("a", place)
            assert snapshot_of(store, namespace) == before
        assert apply_each(store, namespace, prepared("d", "[Di] sings")) == [2]

    def test_a_conflict_within_one_batch(self, store: GraphStore, namespace: str) -> None:
        """Two texts under one id in one batch are a conflict; nothing is written."""
        batch = [prepared("a", "[Ann] sings"), prepared("a", "[Ann] sleeps")]
        with pytest.raises(ConflictError) as caught:
            store.apply(namespace, batch)
        assert caught.value.index == 1
        assert namespace not in store.namespaces()

    def test_ids_differ_by_every_character(self, store: GraphStore, namespace: str) -> None:
        """Ids are compared exactly: case, width, accents, composition and white space count."""
        ids = ["a", "A", " a", "a ", "á", "a\u0301", "\uff41", "", "a\x00", "0", "00"]
        apply_each(store, namespace, *(prepared(id, f"[Ann] says {n}") for n, id in enumerate(ids)))
        with store.reader(namespace, Horizon()) as reader:
            found = [find_passage(reader, id) for id in ids]
        assert [p.text for p in found if p] == [f"Ann says {n}" for n in range(len(ids))]

    def test_an_unknown_entity_writes_nothing(self, store: GraphStore, namespace: str) -> None:
        """A triplet needs its two entities, stored or in its own update."""
        apply_each(store, namespace, prepared("a", "[Ann] sings", entities=(entity("ann", "Ann"),)))
        before = snapshot_of(store, namespace)
        batch = [
            prepared("b", "[Bo] sings"),
            prepared("c", "[Cy] sings", triplets=(triplet("ann", "knows", "cy"),)),
        ]
        with pytest.raises(UnknownEntityError) as caught:
            store.apply(namespace, batch)
        assert caught.value.id == "cy"
        assert snapshot_of(store, namespace) == before

    def test_an_entity_earlier_in_the_batch_is_known(
        self, store: GraphStore, namespace: str
    ) -> None:
        """Updates are written in order: a later one may use the entities of an earlier one."""
        graph_only = PreparedUpdate(id="", text=None, entities=(entity("ann", "Ann"),))
        knows = replace(graph_only, entities=(), triplets=(triplet("ann", "knows", "ann"),))
        store.apply(namespace, [graph_only, knows])
        with pytest.raises(UnknownEntityError):
            store.apply(f"{namespace}-reversed", [knows, graph_only])

    def test_graph_only_updates_are_never_duplicates(
        self, store: GraphStore, namespace: str
    ) -> None:
        """Graph-only updates without an id are never duplicates."""
        one = PreparedUpdate(id="", text=None, entities=(entity("ann", "Ann"),))
        apply_each(store, namespace, prepared("same", "[Ann] sings"))
        assert apply_each(store, namespace, one, one) == [2, 3]
        with store.reader(namespace, Horizon()) as reader:
            assert [e.updates for e in reader.entities()] == [2]
            assert reader.stats().passages == 1

    def test_a_passage_without_statements_is_kept(self, store: GraphStore, namespace: str) -> None:
        """A passage without statements is stored verbatim and recognised as a duplicate."""
        blank = PreparedUpdate(id="blank", text=" \n… ", source="s")
        assert apply_each(store, namespace, blank, blank) == [1, 1]
        with store.reader(namespace, Horizon()) as reader:
            found = find_passage(reader, "blank")
            assert found is not None
            assert found.text == " \n… "
            assert reader.stats().passages == 1
            assert reader.sizes().corpus.sessions == 0

    def test_a_forgotten_t_is_never_used_again(self, store: GraphStore, namespace: str) -> None:
        """The counter does not go back when the latest update is forgotten."""
        apply_each(store, namespace, prepared("a", "[Ann] sings"), prepared("b", "[Bo] sings"))
        forget(store, namespace, "id", "b")
        with store.reader(namespace, Horizon()) as reader:
            assert reader.state.t_index == 2
        assert apply_each(store, namespace, prepared("b", "[Bo] sleeps")) == [3]

    def test_the_callers_values_are_copied(self, store: GraphStore, namespace: str) -> None:
        """The store keeps a copy of the caller's metadata."""
        metadata = {"tags": ["x"]}
        apply_each(store, namespace, prepared("a", "[Ann] sings", metadata=metadata))
        metadata["tags"].append("y")
        with store.reader(namespace, Horizon()) as reader:
            found = find_passage(reader, "a")
        assert found is not None
        assert found.metadata == {"tags": ["x"]}
