"""What facts are read from: evidence of triplets, predicates, words of entities."""

from __future__ import annotations

import struct
from typing import Any

from recallm.ground.entity_words import codes_of
from recallm.model import (
    NO_POSITION,
    ConceptMention,
    EntityUpsert,
    Horizon,
    PreparedUpdate,
    TripletEvidence,
)
from tests.store_suite.marked_text import entity, prepared, triplet
from tests.store_suite.topics.base import NOON, Space, StoreTests, at


def _graph(*entities: object, triplets: tuple[object, ...] = (), id: str = "") -> PreparedUpdate:
    return PreparedUpdate(id=id, text=None, entities=entities, triplets=triplets)  # type: ignore[arg-type]


def _without_concept(id: str) -> EntityUpsert:
    return EntityUpsert(
        id=id, type="chunk", concept=ConceptMention(name="", label=id, kind="entity")
    )


def _mentioned(id: str, label: str) -> EntityUpsert:
    return entity(id, label, mentioned=True)


class FactTests(StoreTests):
    """Evidence of triplets, predicates and words."""

    def test_evidence_says_all_of_a_fact(self, space: Space) -> None:
        """Labels, concepts, properties, t, position, passage, timestamp and source."""
        space.write(
            prepared(
                "p",
                "[Ada] works at [BMW]",
                timestamp=NOON,
                source="s",
                entities=(
                    entity("a", "Ada Byron", "ada byron"),
                    entity("b", "BMW", "bmw", type="Company"),
                ),
                triplets=(triplet("a", "works at", "b", properties={"n": 1}, position=0),),
            ),
            _graph(triplets=(triplet("a", "works at", "b"),)),
        )
        with space.reader() as reader:
            written = TripletEvidence(
                subject="a",
                subject_label="Ada Byron",
                subject_concept="ada byron",
                predicate="works at",
                object="b",
                object_label="BMW",
                object_concept="bmw",
                object_type="Company",
                properties={"n": 1},
                t_index=1,
                position=0,
                passage="p",
                timestamp=NOON,
                source="s",
            )
            later = written._replace(
                properties={},
                t_index=2,
                position=NO_POSITION,
                passage=None,
                timestamp=None,
                source=None,
            )
            assert reader.triplet_evidence() == [later, written]
            assert reader.triplet_evidence(limit=1) == [later]
            assert reader.triplet_evidence(limit=0) == []

    def test_evidence_by_condition(self, space: Space) -> None:
        """Every condition given must be met, exactly; evidence at one t is ordered by its texts."""
        names = ["a", "b", "c\x00"]
        triplets = [("b", "q", "a"), ("a", "q", "b"), ("a", "p", "c\x00"), ("c\x00", "p\x00", "b")]
        space.write(
            _graph(
                *(entity(name, name) for name in names),
                triplets=tuple(triplet(*values) for values in triplets),
            )
        )
        with space.reader() as reader:

            def found(**conditions: Any) -> list[tuple[str, str, str]]:
                evidence = reader.triplet_evidence(**conditions)
                return [(row.subject, row.predicate, row.object) for row in evidence]

            assert found() == sorted(triplets)
            assert found(subjects=["a"]) == [("a", "p", "c\x00"), ("a", "q", "b")]
            assert found(subjects=["a", "c\x00", "none"], predicates=["p", "p\x00"]) == [
                ("a", "p", "c\x00"),
                ("c\x00", "p\x00", "b"),
            ]
            assert found(objects=["b"]) == [("a", "q", "b"), ("c\x00", "p\x00", "b")]
            assert found(objects=["b"], predicates=["q"]) == [("a", "q", "b")]
            assert found(subjects=["b"], objects=["a", "b"]) == [("b", "q", "a")]
            assert found(predicates=["q"]) == [("a", "q", "b"), ("b", "q", "a")]
            assert found(subjects=["b"], predicates=["q"], objects=["a"]) == [("b", "q", "a")]
            assert found(predicates=["Q"]) == []
            assert found(subjects=[]) == found(predicates=[]) == found(objects=[]) == []
            assert found(subjects=["a"], objects=[]) == []

    def test_evidence_within_a_horizon(self, space: Space) -> None:
        """A horizon hides evidence by its t, by its time and by its expiry, and the evidence of a
        triplet with a hidden end."""
        ends = (entity("a", "Ada"), entity("b", "Bo"))
        space.write(
            prepared("1", "[Ada]", timestamp=at(0), entities=ends),
            prepared("2", "[x]", timestamp=at(1), triplets=(triplet("a", "p", "b"),)),
            prepared("3", "[x]", timestamp=at(2), triplets=(triplet("a", "p", "b"),)),
            prepared("4", "[x]", expires_at=at(9), triplets=(triplet("a", "p", "b"),)),
            _graph(entity("c", "Cy"), triplets=(triplet("a", "q", "c"),)),
        )

        def seen(horizon: Horizon) -> list[int]:
            with space.reader(horizon) as reader:
                return [evidence.t_index for evidence in reader.triplet_evidence(subjects=["a"])]

        assert seen(Horizon()) == [5, 4, 3, 2]
        assert seen(Horizon(as_of=3)) == [3, 2]
        assert seen(Horizon(as_of=at(1))) == [2]
        assert seen(Horizon(as_of=at(0))) == []
        assert seen(Horizon(now=at(9))) == [5, 3, 2]
        with space.reader(Horizon(as_of=3)) as reader:
            assert reader.triplet_evidence(predicates=["p"], limit=1)[0].t_index == 3
            assert reader.entities_by_words(["ada", "cy"], limit=9) == {"ada": ("a",)}
            assert reader.predicates() == {"p": 1, "q": 1}
        space.forget("id", "1")
        assert seen(Horizon()) == []

    def test_entities_by_words(self, space: Space) -> None:
        """The words of the names of their concepts as they are now, and no other."""
        space.write(
            _graph(
                entity("a", "Ada Byron", "ada byron"),
                entity("b", "Byron", "byron"),
                entity("c\x00", "C", "c\x00 byron"),
                _without_concept("d"),
            )
        )

        def found(*words: str, limit: int = 9) -> dict[str, tuple[str, ...]]:
            with space.reader() as reader:
                bearers = reader.entities_by_words(words, limit=limit)
            assert list(bearers) == sorted(bearers)
            return dict(bearers)

        assert found("byron", "ada", "c\x00", "nobody") == {
            "ada": ("a",),
            "byron": ("a", "b", "c\x00"),
            "c\x00": ("c\x00",),
        }
        assert found("Byron", "ada byron", "", "d") == {}
        assert found() == found("ada", limit=0) == {}
        some = found("byron", "ada", limit=2)
        assert some["ada"] == ("a",)
        assert len(some["byron"]) == 2
        assert set(some["byron"]) < {"a", "b", "c\x00"}
        space.write(_graph(entity("a", "Ada King", "ada king")))
        space.write(_graph(_mentioned("b", "Other")))
        assert found("ada", "king", "byron", "other") == {
            "ada": ("a",),
            "byron": ("b", "c\x00"),
            "king": ("a",),
        }
        space.delete_graph(entities=["b"])
        space.forget("concept", "c\x00 byron")
        assert found("byron") == {}
        space.beside("-other").write(_graph(entity("x", "Ada", "ada")))
        space.forget("everything", True)
        assert found("ada") == {}

    def test_entities_by_codes(self, space: Space) -> None:
        """The codes of their vectors under each model; an entity without vectors has none."""
        up, down = (struct.pack("<2e", *vector) for vector in ((0.6, 0.8), (-0.6, -0.8)))
        assert not set(codes_of("m", up)) & set(codes_of("m", down))
        space.write(
            _graph(
                entity("a", "A", vectors={"m": up, "n": down}),
                entity("b", "B", vectors={"m": down}),
                entity("c", "C"),
            )
        )

        def found(model: str, blob: bytes) -> set[str]:
            with space.reader() as reader:
                bearers = reader.entities_by_words(codes_of(model, blob), limit=9)
            assert len(set(bearers.values())) <= 1
            return {id for ids in bearers.values() for id in ids}

        assert (found("m", up), found("m", down), found("n", down)) == ({"a"}, {"b"}, {"a"})
        space.write(
            _graph(entity("a", "A", vectors={"m": down}), entity("b", "B"), entity("c", "C"))
        )
        assert (found("m", up), found("m", down), found("n", down)) == (set(), {"a", "b"}, {"a"})
        with space.copied().reader() as reader:
            copied = reader.entities_by_words(codes_of("m", down), limit=9)
        assert set(copied.values()) == {("a", "b")}
        space.delete_graph(entities=["a"])
        assert (found("m", down), found("n", down)) == ({"b"}, set())

    def test_predicates_are_counted(self, space: Space) -> None:
        """Each with its triplets, however much evidence; a change of their set is counted too."""

        def state() -> tuple[dict[str, int], int]:
            with space.reader() as reader:
                return dict(reader.predicates()), reader.state.vocabulary

        assert state() == ({}, 0)
        ends = (entity("a", "Ada"), entity("b", "Bo"))
        space.write(_graph(*ends, triplets=(triplet("a", "q", "b"), triplet("b", "q", "a"))))
        space.write(_graph(triplets=(triplet("a", "q", "b"), triplet("a", "", "b"))))
        counted, first = state()
        assert counted == {"": 1, "q": 2}
        assert list(counted) == ["", "q"]
        space.delete_graph(triplets=[("a", "q", "b"), ("a", "p", "b")])
        assert state() == ({"": 1, "q": 1}, first)
        space.forget("before", 2)
        counted, second = state()
        assert counted == {}
        assert second > first
        space.write(_graph(*ends, triplets=(triplet("a", "q", "b"),)))
        space.forget("everything", True)
        counted, third = state()
        assert counted == {}
        assert third > second + 1
