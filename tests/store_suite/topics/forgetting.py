"""``GraphStore.forget``: afterwards all is as if what was forgotten had never been said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from recallm.errors import ConflictError
from recallm.model import (
    Filter,
    Forgotten,
    PreparedUpdate,
    Selection,
    SelectionKind,
    Summary,
    statement_key,
)
from recallm.stores.base import Applied
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.snapshots import Vocabulary
from tests.store_suite.topics.base import (
    Space,
    StoreTests,
    at,
    find_passage,
    oracle_snapshot,
    summaries,
    summary,
)


def _story() -> list[PreparedUpdate]:
    return [
        prepared("1", "[Ann] met [Bo]", "[Bo] ran", source="book", vectors=(vector(1, b"1"),)),
        prepared("2", "[Bo] met [Ann=ann]", session="chat", source="book"),
        prepared("3", "[Cy] met [Ann]", timestamp=at(0), entities=(entity("e", "Eve"),)),
        prepared("4", "[Ann] met [Bo]", timestamp=at(40), metadata={"k": 1}),
        PreparedUpdate(id="", text=None, entities=(entity("f", "Fay"), entity("e", "Eve"))),
        prepared("6", "[Dee] met [Cy]", timestamp=at(80), triplets=(triplet("e", "met", "f"),)),
        PreparedUpdate(id="7", text="…", source="book"),
        prepared("8", "[Bo] slept", "[Dee] slept", source="chat"),
    ]


class ForgettingTests(StoreTests):
    """What goes, what stays, and what was counted."""

    @staticmethod
    def as_if(
        space: Space,
        kept: Sequence[PreparedUpdate | Summary],
        heard: Sequence[PreparedUpdate],
        counter: int,
    ) -> None:
        """The namespace equals one that never held anything but ``kept``, asked for all heard."""
        also = Vocabulary()
        also.add(replace(u, t_index=t) for t, u in enumerate(heard, 1))
        now, control = (space.snapshot(also=also), oracle_snapshot(counter, kept, also))
        for kind in control:
            assert now[kind] == control[kind], kind

    def test_selections_that_take_nothing(self, space: Space) -> None:
        """Ids, names and sessions are exact; a statement's id is written in one way alone."""
        space.apply(_story())
        before = space.snapshot()
        nothing: list[tuple[SelectionKind, list[str | int | datetime]]] = [
            ("id", ["", "nothing"]),
            ("source", ["nothing"]),
            ("session", ["@3", "=chat"]),
            ("before", [1, at(0)]),
            ("concept", ["nobody"]),
            ("statement", ["3#1", "3#00", "3#", "3", "3#-0", "3#\u0660", "3# 0", "7#0", "#0"]),
        ]
        for kind, values in nothing:
            for value in values:
                assert space.forget(kind, value) == Forgotten(), (kind, value)
        assert space.snapshot() == before

    def test_whole_updates(self, space: Space) -> None:
        """Each kind of selection takes its updates, counts them, and leaves the rest exact."""
        cases: list[tuple[SelectionKind, str | int | datetime, set[int], Forgotten]] = [
            ("id", "1", {1}, Forgotten(passages=1, statements=2)),
            ("id", "3", {3}, Forgotten(passages=1, statements=1, relations=1)),
            ("id", "7", {7}, Forgotten(passages=1)),
            ("source", "book", {1, 2, 7}, Forgotten(passages=3, statements=3)),
            ("session", "book", {1, 7}, Forgotten(passages=2, statements=2)),
            ("session", "chat", {2, 8}, Forgotten(passages=2, statements=3, relations=1)),
            (
                "before",
                5,
                {1, 2, 3, 4},
                Forgotten(passages=4, statements=5, concepts=1, relations=2),
            ),
            (
                "before",
                6,
                {1, 2, 3, 4, 5},
                Forgotten(
                    passages=4, statements=5, concepts=3, relations=2, entities=2, triplets=1
                ),
            ),
            ("before", at(40), {3}, Forgotten(passages=1, statements=1, relations=1)),
            ("before", at(40.001), {3, 4}, Forgotten(passages=2, statements=2, relations=1)),
            (
                "concept",
                "cy",
                {3, 6},
                Forgotten(passages=2, statements=2, concepts=1, relations=2, triplets=1),
            ),
            ("statement", "3#0", {3}, Forgotten(passages=1, statements=1, relations=1)),
        ]
        for kind, value, gone, counted in cases:
            story, case = _story(), space.beside(f" {kind} {value}")
            case.apply(story)
            dumped = [update for update in case.dump() if isinstance(update, PreparedUpdate)]
            assert case.forget(kind, value) == counted, case
            kept = [update for update in dumped if update.t_index not in gone]
            if kind == "before" and 5 in gone:
                kept = [replace(u, triplets=()) for u in kept]
            self.as_if(case, kept, story, len(story))

    def test_everything(self, space: Space) -> None:
        """Everything but the counter goes; other namespaces stay."""
        other = space.beside("-other")
        space.write(*_story())
        other.write(*_story())
        before = other.snapshot()
        space.revise("ann", 4)
        counted = space.forget("everything", True)
        assert counted == Forgotten(
            passages=7, statements=8, concepts=6, relations=4, entities=2, triplets=1, summaries=1
        )
        self.as_if(space, [], _story(), 8)
        assert space.is_listed()
        assert other.snapshot() == before
        assert not space.forget("everything", True)
        assert space.write(prepared("1", "[Ann] sings")) == [9]

    def test_nothing_in_an_unknown_namespace(self, space: Space) -> None:
        """Forgetting in an unknown namespace does not create it."""
        assert not space.forget("everything", True)
        assert not space.forget("id", "1")
        assert not space.is_listed()

    def test_a_passage_is_cut(self, space: Space) -> None:
        """Forgetting a statement cuts its text out; positions of the others stay."""
        story = [
            prepared("0", "[Ann] met [Bo]"),
            prepared(
                "1",
                "[Ann] met [Bo].",
                "[Bo] met [Ann].",
                "[Cy] met [Bo].",
                gap="\n\n",
                source="s",
                speaker="Di",
                timestamp=at(0),
                metadata={"k": [1]},
                path=("a",),
                entities=(entity("e", "Eve", position=1), entity("e", "Eve"), entity("f", "Fay")),
                triplets=(
                    triplet("e", "met", "f", position=1),
                    triplet("f", "met", "e", position=2),
                ),
                vectors=(vector(0, b"0"), vector(1, b"1"), vector(2, b"2")),
            ),
        ]
        space.write(*story)
        assert space.forget("statement", "1#1") == Forgotten(statements=1, relations=1, triplets=1)
        one = replace(
            prepared("1", "[Ann] met [Bo].", "[Cy] met [Bo].", gap="\n\n"),
            t_index=2,
            source="s",
            speaker="Di",
            timestamp=at(0),
            metadata={"k": [1]},
            path=("a",),
            entities=(entity("e", "Eve"), entity("f", "Fay")),
            triplets=(triplet("f", "met", "e", position=2),),
            vectors=(vector(0, b"0"), vector(2, b"2")),
        )
        one = replace(
            one,
            statements=(one.statements[0], replace(one.statements[1], position=2)),
            # Bo and Cy stand side by side only now: that makes them no neighbours.
            neighbours=tuple(
                replace(n, earlier=n.earlier * 2, later=n.later * 2)
                for n in one.neighbours
                if n.earlier == n.later
            ),
        )
        self.as_if(space, [replace(story[0], t_index=1), one], story, 2)
        assert space.passage("1").text == "Ann met Bo.\n\nCy met Bo."
        with space.reader() as reader:
            first, last = reader.statements([statement_key(2, n) for n in range(3)])
            assert (first.text, last.text) == ("Ann met Bo.", "Cy met Bo.")
            assert (first.next, last.previous) == (last.key, first.key)
            assert (first.id, last.id) == ("1#0", "1#2")
            [relation] = reader.relations(["ann", "bo"], among=True)
            assert (relation.strength, relation.t_index) == (2, 2)

    def test_a_pair_across_the_cut(self, space: Space) -> None:
        """A neighbour pair across two statements goes with either, unless another place shows
        it."""
        space.write(prepared("1", "[Ann]", "[Bo]", "[Ann]", "[Cy]"))
        with space.reader() as reader:
            assert [(r.a, r.b) for r in reader.relations(["ann"], limit=9)] == [
                ("ann", "bo"),
                ("ann", "cy"),
            ]
        assert space.forget("statement", "1#0") == Forgotten(statements=1)
        with space.reader() as reader:
            assert len(reader.relations(["ann", "bo"], among=True)) == 1
        assert space.forget("statement", "1#2") == Forgotten(statements=1, concepts=1, relations=2)
        with space.reader() as reader:
            assert reader.relations(["ann", "bo", "cy"], limit=9) == []

    def test_a_passage_goes_with_its_last_statement(self, space: Space) -> None:
        """A passage goes with its last statement."""
        space.write(
            prepared("a#0", " [Ann] ran", "[Bo] ran", "[Cy] ran", entities=(entity("e", "E"),))
        )
        texts: list[str] = []
        for position in (0, 2, 1):
            counted = space.forget("statement", f"a#0#{position}")
            assert counted.statements == 1
            with space.reader() as reader:
                passage = find_passage(reader, "a#0")
                assert len(reader.entities()) == (passage is not None)
                texts += [passage.text] if passage else []
        assert texts == ["Bo ran Cy ran", "Bo ran"]
        assert counted == Forgotten(passages=1, statements=1, concepts=2, entities=1)
        assert space.dump() == []

    def test_a_cut_text_is_another_text(self, space: Space) -> None:
        """The passage is the remaining text: the old text conflicts with it."""
        whole = prepared("1", "[Ann] ran", "[Bo] ran")
        space.write(whole)
        space.forget("statement", "1#0")
        with pytest.raises(ConflictError):
            space.apply([whole])
        assert space.apply([prepared("1", "[Bo] ran")]) == [Applied(t_index=1, duplicate=True)]

    def test_a_concept_in_some_statements(self, space: Space) -> None:
        """Every statement that mentions it goes, in whole passages and in parts of others."""
        story = [
            prepared("1", "[Ann] met [Bo]", "[Bo] ran", "[Cy] and [Bo]"),
            prepared("2", "[Ann]"),
            prepared("3", "[Cy] met [Bo]"),
        ]
        space.write(*story)
        space.revise("bo", 3)
        space.revise("cy", 3)
        assert space.forget("concept", "ann") == Forgotten(
            passages=1, statements=2, concepts=1, relations=1, summaries=1
        )
        one = prepared("1", "[Bo] ran", "[Cy] and [Bo]")
        kept = replace(
            one,
            t_index=1,
            statements=tuple(replace(s, position=s.position + 1) for s in one.statements),
            neighbours=tuple(
                replace(n, earlier=n.earlier + 1, later=n.later + 1) for n in one.neighbours
            ),
        )
        self.as_if(space, [kept, replace(story[2], t_index=3), summary("cy", 3)], story, 3)

    def test_labels_after_the_first_mention_is_gone(self, space: Space) -> None:
        """The earliest mention that is left gives label and kind."""
        space.write(prepared("1", "a [cup=cup]", "two [cups=cup]"), prepared("2", "[Cup=cup]"))
        space.forget("statement", "1#0")
        with space.reader() as reader:
            [row] = reader.concepts()
        assert (row.label, row.kind, row.updates, row.t_index) == ("cups", "noun", 2, 2)
        space.forget("statement", "1#1")
        with space.reader() as reader:
            [row] = reader.concepts()
        assert (row.label, row.kind, row.updates, row.merges) == ("Cup", "name", 1, 0)

    def test_derived_sessions_stay_as_written(self, space: Space) -> None:
        """Updates keep the session that they were written to, also when it loses its first update
        or the one that bridged a gap; an archive restores it so."""
        story = [prepared(f"{n}", "[Ann]", timestamp=at(50 * n)) for n in range(5)]
        story.insert(2, prepared("named", "[Ann]", session="s", timestamp=at(60)))
        space.write(*story)
        stored = [
            replace(update, t_index=t, session_key=None if update.session else "@1")
            for t, update in enumerate(story, 1)
        ]
        # Updates 1 2 (named 3) 4 5 6, fifty minutes between two.
        for id, gone in (("1", {2}), ("3", {2, 5}), ("0", {1, 2, 5})):
            space.forget("id", id)
            kept = [update for update in stored if update.t_index not in gone]
            self.as_if(space, kept, story, 6)
        with space.reader() as reader:
            assert reader.sizes(["@1", "@4", "@6"]).sessions.keys() == {"@1"}
            assert reader.sizes(["@1"]).sessions["@1"].statements == 2

    def test_the_last_of_a_session_forgotten(self, space: Space) -> None:
        """A new update continues no session whose latest update is forgotten or replaced."""
        space.write(
            prepared("1", "[Ann]", timestamp=at(0)), prepared("2", "[Ann]", timestamp=at(50))
        )
        space.forget("id", "2")
        space.write(prepared("3", "[Ann]", timestamp=at(100)))
        with space.reader() as reader:
            assert reader.sizes(["@1", "@3"]).sessions.keys() == {"@1", "@3"}
        space.forget("id", "1")
        space.write(
            prepared("3", "[Bo]", timestamp=at(101), replaces=True),
            prepared("5", "[Bo]", timestamp=at(102)),
        )
        with space.reader() as reader:
            assert reader.sizes(["@1", "@3", "@4", "@5"]).sessions.keys() == {"@4"}
        space.forget("everything", True)
        space.write(prepared("4", "[Ann]", timestamp=at(110)))
        with space.reader() as reader:
            assert reader.sizes(["@4", "@6"]).sessions.keys() == {"@6"}

    def test_summaries_go_with_what_they_cover(self, space: Space) -> None:
        """A summary goes with any statement that it covers, and with no other."""
        for n in (1, 2, 3):
            space.write(prepared(f"{n}", f"[Ann] ate {n}"), prepared(f"b{n}", "[Bo]"))
            if n < 3:
                space.revise("ann", 2 * n - 1)
        assert space.forget("id", "b1").summaries == 0
        assert space.forget("id", "3").summaries == 0
        with space.reader() as reader:
            assert summaries(reader, ["ann"])["ann"].t_index == 3
            assert reader.concepts(["ann"])[0].merges == 0
        assert space.forget("id", "1").summaries == 1
        with space.reader() as reader:
            assert summaries(reader, ["ann"]) == {}
            assert reader.concepts(["ann"])[0].merges == 0

    def test_facts_go_by_concept(self, space: Space) -> None:
        """A fact goes with its other end and its passage; elsewhere what only it brought goes."""
        fact = PreparedUpdate(
            id="fact",
            text="",
            source="s",
            timestamp=at(0),
            metadata={"key": "Eve"},
            entities=(entity("e", "Eve"), entity("n", "Number")),
            triplets=(triplet("e", "has", "n"),),
        )
        row = replace(
            fact,
            id="row",
            metadata={"key": "Bo", "boss": "Eve"},
            entities=(entity("b", "Bo"), entity("e", "Eve"), entity("f", "Flu")),
            triplets=(triplet("b", "boss", "e"), triplet("b", "illness", "f")),
        )
        row_left = replace(
            row,
            metadata={"key": "Bo"},
            entities=(entity("b", "Bo"), entity("f", "Flu")),
            triplets=(triplet("b", "illness", "f"),),
        )
        text = prepared(
            "text",
            "[Eve] ran",
            "[Cy] ran",
            metadata={"who": ["a eve"], "k": "Evening"},
            entities=(entity("e", "Eve"), entity("n", "Number"), entity("c", "Cy")),
            triplets=(triplet("e", "has", "n"), triplet("e", "met", "c"), triplet("c", "is", "c")),
        )
        graph = replace(text, id="", text=None, statements=(), neighbours=(), metadata={})
        space.write(fact, text, graph, row)
        held = space.snapshot()
        selection = Selection(kind="concept", value="eve")
        counted = space.forget_selection(replace(selection, dry_run=True))
        assert space.snapshot() == held
        assert space.forget_selection(selection) == counted
        assert (counted.passages, counted.statements, counted.entities) == (1, 1, 2)
        kept: dict[str, Any] = {
            "entities": (entity("c", "Cy"),),
            "triplets": (triplet("c", "is", "c"),),
        }
        left = replace(prepared("text", "[Cy] ran", metadata={"k": "Evening"}), t_index=2, **kept)
        left = replace(left, statements=(replace(left.statements[0], position=1),))
        self.as_if(
            space,
            [left, replace(graph, t_index=3, **kept), replace(row_left, t_index=4)],
            [fact, text, graph, row],
            4,
        )
        with space.reader() as reader:
            where = Filter(metadata={"who": ["a eve"]})
            assert not len(reader.postings(["ran"], limit=9, where=where)["ran"].keys)

    def test_an_empty_passage_goes_with_its_last_element(self, space: Space) -> None:
        """Also where another passage took the entity along; a passage with a text stays."""
        ends = (entity("e", "Eve"), entity("f", "Fay"))
        shown = triplet("e", "met", "f")
        bare = PreparedUpdate(id="bare", text="", session="s", triplets=(shown,))
        text = PreparedUpdate(id="text", text="…", triplets=(shown,))
        space.write(prepared("1", "[Ann]", entities=ends), bare, text)
        counted = space.forget("id", "1")
        assert (counted.passages, counted.entities, counted.triplets) == (2, 2, 1)
        with space.reader() as reader:
            assert [passage.id for passage in reader.passages()] == ["text"]
            assert reader.sessions() == []

    def test_mentions_of_a_passage_that_goes_with_its_last_element(self, space: Space) -> None:
        """A mention that refers to an empty passage goes with it, however the passage went."""
        bare = PreparedUpdate(id="bare", text="", entities=(entity("e", "Eve"),))
        referring = prepared("1", "[Bo] met {her>ann@bare}, {she>ann@bare} met [Cy]")
        space.write(bare, referring)
        assert space.delete_graph(entities=["e"]) == Forgotten(
            passages=1, concepts=2, relations=2, entities=1
        )
        self.as_if(
            space,
            [replace(prepared("1", "[Bo] met her, she met [Cy]"), t_index=2, neighbours=())],
            [bare, referring],
            2,
        )
