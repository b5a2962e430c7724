"""Concepts and relations: t_index, strength, merges, labels, order, traversal."""

from __future__ import annotations

from recallm.model import ConceptKind, ConceptRow, Filter, Horizon, PreparedUpdate, Relation
from tests.store_suite.marked_text import entity, prepared
from tests.store_suite.topics.base import Space, StoreTests


class GraphTests(StoreTests):
    """The temporal graph that updates build."""

    def test_the_walk_through(self, space: Space) -> None:
        """The authors' two sentences give their table of concepts and relations."""
        space.write(
            prepared("1", "[Brandon] loves [coffee=coffe]"),
            prepared("2", "[Brandon] wants to travel to [Paris=pari]"),
        )
        rows: list[tuple[str, str, ConceptKind, int, int]] = [
            ("brandon", "Brandon", "name", 2, 2),
            ("pari", "Paris", "name", 2, 1),
            ("coffe", "coffee", "noun", 1, 1),
        ]
        with space.reader() as reader:
            assert reader.concepts() == [
                ConceptRow(
                    name=name,
                    label=label,
                    kind=kind,
                    t_index=t_index,
                    updates=updates,
                    statements=updates,
                    merges=updates - 1,
                )
                for name, label, kind, t_index, updates in rows
            ]
            assert reader.relations(["brandon"], limit=9) == [
                Relation(a="brandon", b="coffe", strength=1, t_index=1),
                Relation(a="brandon", b="pari", strength=1, t_index=2),
            ]

    def test_strength_counts_updates(self, space: Space) -> None:
        """A pair counts once an update, however often and wherever the update shows it."""
        space.write(
            prepared("1", "[Ann] and [Bo]", "[Bo] and [Ann]", "[Ann] or [Bo]"),
            prepared("2", "[Cy]"),
            prepared("3", "[Bo] met [Ann]"),
        )
        with space.reader() as reader:
            assert reader.relations(["ann"], limit=9) == [
                Relation(a="ann", b="bo", strength=2, t_index=3)
            ]
            [ann] = reader.concepts(["ann"])
            assert (ann.updates, ann.statements, ann.merges) == (2, 4, 1)

    def test_a_label_is_the_earliest_spelling(self, space: Space) -> None:
        """Label and kind stay those of the first mention; each statement keeps its own."""
        space.write(
            prepared("1", "a [banana=banana]", "[Bananas=banana]"),
            prepared("2", "[BANANAS=banana]"),
        )
        with space.reader() as reader:
            [row] = reader.concepts(["banana"])
            assert (row.label, row.kind) == ("banana", "noun")
            keys = reader.mentions(["banana"], limit=None, where=Filter())["banana"].keys.tolist()
            labels = [s.concepts[0].label for s in reader.statements(keys)]
        assert labels == ["banana", "Bananas", "BANANAS"]

    def test_a_label_where_only_entities_touch(self, space: Space) -> None:
        """A concept without a mention is called after its earliest entity, then by id; a later
        mention in a statement takes its place."""
        later = PreparedUpdate(id="", text=None, entities=(entity("a", "Third", "x"),))
        both = (entity("c", "Second", "x"), entity("b", "First", "x"))
        space.write(PreparedUpdate(id="", text=None, entities=both), later)
        with space.reader() as reader:
            [row] = reader.concepts(["x"])
        assert (row.label, row.statements, row.updates, row.t_index) == ("First", 0, 2, 2)
        space.write(prepared("1", "[said=x]"))
        with space.reader() as reader:
            [row] = reader.concepts(["x"])
        assert (row.label, row.kind, row.updates, row.merges) == ("said", "noun", 3, 2)

    def test_merges_start_again_at_a_revision(self, space: Space) -> None:
        """``merges`` counts the updates since the concept was created or last revised."""
        space.write(*(prepared(f"{n}", f"[Ann] eats {n}") for n in range(4)))
        with space.reader() as reader:
            assert reader.concepts(["ann"])[0].merges == 3
        space.revise("ann", 4)
        with space.reader() as reader:
            assert reader.concepts(["ann"])[0].merges == 0
        space.write(prepared("5", "[Ann] eats 5"), prepared("6", "[Ann] eats 6"))
        with space.reader() as reader:
            assert reader.concepts(["ann"])[0].merges == 2
        with space.reader(Horizon(as_of=3)) as reader:
            assert reader.concepts(["ann"])[0].merges == 2

    def test_concepts_by_name_and_limit(self, space: Space) -> None:
        """Latest first, then by name; unknown names are left out."""
        space.write(
            prepared("1", "[Bo] [Ann] [Cy]"), prepared("2", "[Di]"), prepared("3", "[Cy] [Eve]")
        )
        with space.reader() as reader:
            assert [c.name for c in reader.concepts()] == ["cy", "eve", "di", "ann", "bo"]
            assert [c.name for c in reader.concepts(limit=3)] == ["cy", "eve", "di"]
            named = reader.concepts(["bo", "cy", "nobody", "bo"])
            assert [c.name for c in named] == ["cy", "bo"]
            assert [c.name for c in reader.concepts(["bo", "cy"], limit=1)] == ["cy"]
            assert reader.concepts([]) == []

    def test_names_are_ordered_by_code_point(self, space: Space) -> None:
        """The order of strings is the same in every store, beyond the first plane too."""
        names = ["Z", "a", "é", "\ufb00", "\U0001f600", "中", "a b", "a\x00b", "_"]
        space.write(prepared("1", " ".join(f"[{n}={n}]" for n in names)))
        with space.reader() as reader:
            assert [c.name for c in reader.concepts()] == sorted(names)
            assert [c.name for c in reader.concepts(limit=4)] == sorted(names)[:4]
            found = [(r.a, r.b) for r in reader.relations(names, among=True)]
        assert found == sorted(found)
        assert len(found) == len(names) - 1

    def test_relations_of_each_name_in_order(self, space: Space) -> None:
        """A limit keeps the latest, then the strongest, then by the other end's name."""
        space.write(
            prepared("1", "[Hub] [Old]"),
            prepared("2", "[Hub] [Strong]"),
            prepared("3", "[Strong] [Hub] [Aaa]", "[Zzz] [Hub] [Bbb]"),
        )
        # Neighbours run on across statements: Aaa and Zzz are related too.
        with space.reader() as reader:

            def others(limit: int) -> list[str]:
                return [
                    r.b if r.a == "hub" else r.a for r in reader.relations(["hub"], limit=limit)
                ]

            assert others(1) == ["strong"]
            assert others(2) == ["aaa", "strong"]
            assert others(3) == ["aaa", "bbb", "strong"]
            assert others(4) == ["aaa", "bbb", "strong", "zzz"]
            assert others(9) == ["aaa", "bbb", "old", "strong", "zzz"]
            both = reader.relations(["old", "aaa", "nobody"], limit=1)
            assert [(r.a, r.b) for r in both] == [("aaa", "hub"), ("hub", "old")]
            assert len(reader.relations(["hub"])) == 5
            assert reader.relations(["nobody"], limit=5) == []
            assert reader.relations([], limit=5) == []

    def test_relations_among(self, space: Space) -> None:
        """Both ends must be among the names."""
        space.write(prepared("1", "[Ann] [Bo] [Cy] [Ann]"))
        with space.reader() as reader:
            assert [(r.a, r.b) for r in reader.relations(["ann", "cy"], among=True)] == [
                ("ann", "cy")
            ]
            assert reader.relations(["ann"], among=True) == []
            assert reader.relations([], among=True) == []
            assert len(reader.relations(["cy", "bo", "ann", "bo"], among=True)) == 3
