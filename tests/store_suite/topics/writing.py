"""Knowledge updates: t, batches, duplicates, conflicts, and all or nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recallm.errors import ConflictError, UnknownEntityError
from recallm.model import PreparedUpdate
from recallm.stores.base import Applied
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.topics.base import Space, StoreTests


class WritingTests(StoreTests):
    """``GraphStore.apply``."""

    def test_t_counts_updates_from_one(self, space: Space) -> None:
        """Each update takes the next t, in a batch or alone."""
        batch = [prepared("a", "[Ann] sings"), prepared("b", "[Bo] sings")]
        assert space.apply(batch) == [Applied(t_index=1), Applied(t_index=2)]
        assert space.write(prepared("c", "[Cy] sings")) == [3]
        with space.reader() as reader:
            assert reader.state.t_index == 3
            assert reader.stats().t_index == 3

    def test_an_empty_batch_writes_nothing(self, space: Space) -> None:
        """An empty batch takes no t and creates no namespace."""
        assert space.apply([]) == []
        assert not space.is_listed()

    def test_a_duplicate_changes_nothing(self, space: Space) -> None:
        """The same id with the same text is a duplicate, whatever else differs."""
        first = prepared("a", "[Ann] sings to [Bo]", vectors=(vector(0, b"aa"),))
        space.write(first, prepared("b", "[Bo] sleeps"))
        before = space.snapshot()
        again = prepared(
            "a",
            "[Ann] sings to [Bo]",
            source="elsewhere",
            metadata={"new": True},
            entities=(entity("e", "Ann"),),
            triplets=(triplet("nobody", "knows", "nobody"),),
            vectors=(vector(0, b"longer than that of before"),),
        )
        assert space.apply([again]) == [Applied(t_index=1, duplicate=True)]
        assert space.snapshot() == before

    def test_duplicates_in_one_batch(self, space: Space) -> None:
        """A duplicate within a batch takes no t."""
        first, second = prepared("a", "[Ann] sings"), prepared("b", "[Bo] sings")
        assert space.apply([first, first, second, first]) == [
            Applied(t_index=1),
            Applied(t_index=1, duplicate=True),
            Applied(t_index=2),
            Applied(t_index=1, duplicate=True),
        ]
        with space.reader() as reader:
            assert reader.state.t_index == 2
            assert reader.stats().passages == 2

    def test_a_conflict_names_its_place_and_writes_nothing(self, space: Space) -> None:
        """A conflict rolls back the whole batch, which takes no t."""
        space.write(prepared("a", "[Ann] sings"))
        before = space.snapshot()
        for place in (0, 1, 2):
            batch = [prepared("b", "[Bo] sings"), prepared("c", "[Cy] sings")]
            batch.insert(place, prepared("a", "[Ann] sleeps"))
            with pytest.raises(ConflictError) as caught:
                space.apply(batch)
            assert (caught.value.id, caught.value.index) == ("a", place)
            assert space.snapshot() == before
        assert space.write(prepared("d", "[Di] sings")) == [2]

    def test_a_conflict_within_one_batch(self, space: Space) -> None:
        """Two texts under one id in one batch are a conflict; nothing is written."""
        batch = [prepared("a", "[Ann] sings"), prepared("a", "[Ann] sleeps")]
        with pytest.raises(ConflictError) as caught:
            space.apply(batch)
        assert caught.value.index == 1
        assert not space.is_listed()

    def test_ids_differ_by_every_character(self, space: Space) -> None:
        """Ids are compared exactly: case, width, accents, composition and white space count."""
        ids = ["a", "A", " a", "a ", "á", "a\u0301", "\uff41", "", "a\x00", "0", "00"]
        space.write(*(prepared(id, f"[Ann] says {n}") for n, id in enumerate(ids)))
        assert [space.passage(id).text for id in ids] == [f"Ann says {n}" for n in range(len(ids))]

    def test_an_unknown_entity_writes_nothing(self, space: Space) -> None:
        """A triplet needs its two entities, stored or in its own update."""
        space.write(prepared("a", "[Ann] sings", entities=(entity("ann", "Ann"),)))
        before = space.snapshot()
        batch = [
            prepared("b", "[Bo] sings"),
            prepared("c", "[Cy] sings", triplets=(triplet("ann", "knows", "cy"),)),
        ]
        with pytest.raises(UnknownEntityError) as caught:
            space.apply(batch)
        assert caught.value.id == "cy"
        assert space.snapshot() == before

    def test_an_entity_earlier_in_the_batch_is_known(self, space: Space) -> None:
        """Updates are written in order: a later one may use the entities of an earlier one."""
        graph_only = PreparedUpdate(id="", text=None, entities=(entity("ann", "Ann"),))
        knows = replace(graph_only, entities=(), triplets=(triplet("ann", "knows", "ann"),))
        space.apply([graph_only, knows])
        with pytest.raises(UnknownEntityError):
            space.beside("-reversed").apply([knows, graph_only])

    def test_graph_only_updates_are_never_duplicates(self, space: Space) -> None:
        """Graph-only updates without an id are never duplicates."""
        one = PreparedUpdate(id="", text=None, entities=(entity("ann", "Ann"),))
        space.write(prepared("same", "[Ann] sings"))
        assert space.write(one, one) == [2, 3]
        with space.reader() as reader:
            assert [e.updates for e in reader.entities()] == [2]
            assert reader.stats().passages == 1

    def test_a_passage_without_statements_is_kept(self, space: Space) -> None:
        """A passage without statements is stored verbatim and recognised as a duplicate."""
        blank = PreparedUpdate(id="blank", text=" \n… ", source="s")
        assert space.write(blank, blank) == [1, 1]
        assert space.passage("blank").text == " \n… "
        with space.reader() as reader:
            assert reader.stats().passages == 1
            assert reader.sizes().corpus.sessions == 0

    def test_a_forgotten_t_is_never_used_again(self, space: Space) -> None:
        """The counter does not go back when the latest update is forgotten."""
        space.write(prepared("a", "[Ann] sings"), prepared("b", "[Bo] sings"))
        space.forget("id", "b")
        with space.reader() as reader:
            assert reader.state.t_index == 2
        assert space.write(prepared("b", "[Bo] sleeps")) == [3]

    def test_the_callers_values_are_copied(self, space: Space) -> None:
        """The store keeps a copy of the caller's metadata."""
        metadata = {"tags": ["x"]}
        space.write(prepared("a", "[Ann] sings", metadata=metadata))
        metadata["tags"].append("y")
        assert space.passage("a").metadata == {"tags": ["x"]}
