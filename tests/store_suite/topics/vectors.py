"""The vectors of entities, and the one size that all vectors under a model have."""

from __future__ import annotations

import pytest

from recallm.errors import DimensionError, UnknownEntityError
from recallm.model import EntityUpsert, Horizon, PreparedUpdate
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.topics.base import NOON, Space, StoreTests, at


def _graph(*entities: EntityUpsert) -> PreparedUpdate:
    return PreparedUpdate(id="", text=None, entities=entities)


def _entity(id: str, **vectors: bytes) -> EntityUpsert:
    return entity(id, id, vectors=vectors)


class VectorTests(StoreTests):
    """Embeddings that users hand in with entities."""

    def test_vectors_of_entities(self, space: Space) -> None:
        """An entity has one vector for each model; a later vector replaces it."""
        space.write(
            _graph(_entity("a", m=bytes(range(256))), _entity("b", n=b"\x00\xff")),
            _graph(_entity("a", n=b"nn"), _entity("c")),
            _graph(_entity("b", n=b"bb"), _entity("a")),
        )
        with space.reader() as reader:
            assert dict(reader.entity_vectors(model="m")) == {"a": bytes(range(256))}
            assert dict(reader.entity_vectors(model="n")) == {"a": b"nn", "b": b"bb"}
            assert dict(reader.entity_vectors(["b", "c", "x"], model="n")) == {"b": b"bb"}
            assert dict(reader.entity_vectors([], model="n")) == {}
            assert dict(reader.entity_vectors(model="o")) == {}
            assert (reader.state.vector_bytes.get("m"), reader.state.vector_bytes.get("n")) == (
                256,
                2,
            )
            assert reader.state.vector_bytes.get("o") is None
            assert reader.stats().vectors == 0

    def test_vectors_go_with_their_entity(self, space: Space) -> None:
        """A forgotten entity's vectors go with it; a new entity with its id has none."""
        space.write(
            _graph(_entity("a", m=b"aa"), _entity("b", m=b"bb"), _entity("c", m=b"cc")),
            prepared("p", "[Dan] ran", entities=(_entity("d", m=b"dd"),)),
        )
        space.delete_graph(entities=["a"])
        space.forget("concept", "b")
        space.forget("id", "p")
        space.write(_graph(_entity("a"), _entity("b"), _entity("d")))
        with space.reader() as reader:
            assert dict(reader.entity_vectors(model="m")) == {"c": b"cc"}

    def test_hidden_entities_have_no_vectors(self, space: Space) -> None:
        """The vectors of hidden entities are hidden."""
        space.write(
            prepared("p", "[Ann]", timestamp=NOON, entities=(_entity("a", m=b"aa"),)),
            prepared("q", "[Bo]", expires_at=at(5), entities=(_entity("b", m=b"bb"),)),
        )
        for horizon, ids in (
            (Horizon(as_of=1), {"a"}),
            (Horizon(as_of=NOON), {"a"}),
            (Horizon(now=at(6)), {"a"}),
            (Horizon(now=at(4)), {"a", "b"}),
            (Horizon(as_of=0), set()),
        ):
            with space.reader(horizon) as reader:
                assert set(reader.entity_vectors(model="m")) == ids
                assert reader.state.vector_bytes.get("m") == 2

    def test_one_size_for_each_model(self, space: Space) -> None:
        """Vectors of entities and of statements have the size of the first; others are refused
        with all of their batch."""
        space.write(prepared("p", "[Ann] ran", vectors=(vector(0, b"four"),)))
        space.write(_graph(_entity("a", m=b"also", n=b"two and.")))
        for bad in (
            _graph(_entity("b", m=b"no")),
            prepared("q", "[Bo]", vectors=(vector(0, b"too long"),)),
            prepared("q", "[Bo]", entities=(_entity("b", m=b""),)),
            _graph(_entity("b", o=b"12"), _entity("c", o=b"1234")),
        ):
            with pytest.raises(DimensionError) as failure:
                space.apply([_graph(_entity("x", n=b"fine....")), bad])
            assert failure.value.model in ("m", "o")
        with pytest.raises(DimensionError, match="'m' have 2 dimensions in this namespace, not 4"):
            space.apply([_graph(_entity("b", m=b"12345678"))])
        with space.reader() as reader:
            assert [e.id for e in reader.entities()] == ["a"]
            assert (reader.state.t_index, reader.state.vector_bytes.get("o")) == (2, None)
        space.beside("-other").write(_graph(_entity("b", m=b"no")))

    def test_the_size_outlives_the_vectors(self, space: Space) -> None:
        """The size stays fixed until everything is forgotten."""
        space.write(prepared("p", "[Ann]", entities=(_entity("a", m=b"aa"),)))
        space.forget("id", "p")
        with pytest.raises(DimensionError):
            space.write(_graph(_entity("a", m=b"long")))
        space.forget("everything", True)
        with space.reader() as reader:
            assert reader.state.vector_bytes.get("m") is None
        space.write(_graph(_entity("a", m=b"long")))

    def test_the_first_error_is_told(self, space: Space) -> None:
        """The error of the first failing update is raised."""
        unknown = PreparedUpdate(id="", text=None, triplets=(triplet("x", "is", "y"),))
        bad = _graph(_entity("a", m=b"aa"), _entity("b", m=b"long"))
        with pytest.raises(UnknownEntityError):
            space.apply([unknown, bad])
        with pytest.raises(DimensionError):
            space.apply([bad, unknown])

    def test_vectors_in_archives(self, space: Space) -> None:
        """A dump holds the vectors at the entity's latest evidence; restore brings them back."""
        space.write(
            _graph(_entity("a", m=b"aa")),
            prepared(
                "p", "[Ann]", entities=(_entity("a", n=b"nnnn"),), vectors=(vector(0, b"ss"),)
            ),
        )
        records = space.dump()
        copied = space.copied()
        with copied.reader() as reader:
            assert list(reader.dump()) == records
            assert dict(reader.entity_vectors(model="m")) == {"a": b"aa"}
            assert reader.state.vector_bytes.get("n") == 4
        with pytest.raises(DimensionError):
            copied.write(_graph(_entity("b", m=b"long")))
        mixed = [*records, prepared("q", "[Bo]", vectors=(vector(0, b"x"),), t_index=3)]
        with pytest.raises(DimensionError):
            space.beside("-mixed").restore(3, mixed)
