"""References: pronouns that stand for a concept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from recallm.model import (
    Filter,
    Forgotten,
    PreparedUpdate,
    Reference,
    StoredStatement,
    Summary,
    statement_key,
)
from tests.store_suite.marked_text import entity, prepared
from tests.store_suite.snapshots import Vocabulary
from tests.store_suite.topics.base import Space, StoreTests, oracle_snapshot, summary


def _concepts_of(statements: Iterable[StoredStatement]) -> list[list[str]]:
    """The names of the concepts of each statement."""
    return [[concept.name for concept in statement.concepts] for statement in statements]


class ReferenceTests(StoreTests):
    """Mentions with a reference."""

    def test_references_are_stored(self, space: Space) -> None:
        """A reader and a dump give the mentions of a statement as they were written."""
        for number, id in enumerate(("p1", "", "\x00", "\x1d5\x1f\x1e", "a#0", "é" * 3000)):
            case = space.beside(f" {number}")
            updates = [
                prepared(id, "[Ann] met [Bo]"),
                prepared("2", "Then {she>ann@p1} ran", "[Cy] sat, {he>cy}"),
            ]
            first, second = updates[1].statements
            [she] = first.concepts
            assert she.reference == Reference(5, 8, "p1")
            first = replace(first, concepts=(replace(she, reference=Reference(5, 8, id)),))
            updates[1] = replace(updates[1], statements=(first, second))
            case.apply(updates)
            keys = [statement_key(2, n) for n in range(2)]
            with case.reader() as reader:
                found = [statement.concepts for statement in reader.statements(keys)]
                assert found == [first.concepts, second.concepts]
                mentions = reader.mentions(["ann"], limit=9, where=Filter())["ann"]
                assert mentions.keys.tolist() == [keys[0], statement_key(1, 0)]
                [ann] = reader.concepts(["ann"])
                assert (ann.label, ann.updates, ann.statements) == ("Ann", 2, 2)
                dumped = [replace(update, t_index=t) for t, update in enumerate(updates, 1)]
                assert list(reader.dump()) == dumped

    def test_references_of_a_copy(self, space: Space) -> None:
        """An archive holds references."""
        space.write(prepared("1", "[Ann] met [Bo]"), prepared("2", "{She>ann@1} sat, {that>sit}"))
        assert space.copied().snapshot() == space.snapshot()

    def test_a_mention_goes_with_its_antecedent(self, space: Space) -> None:
        """Who forgets a passage forgets what pronouns elsewhere made of it: all is as if these had
        never been resolved."""
        space.write(
            prepared("1", "[Ann] met [Bo]"),
            prepared("2", "[Cy] sat", session="other"),
            prepared("3", "{She>ann@1} saw [Bo]", "then {she>ann@1} ran to [Di]", "[Di] hid"),
            prepared("4", "[Bo] met [Di]", "{He>bo} ran, {she>ann@1} sat"),
        )
        space.revise("ann", 4)
        space.revise("di", 4)
        also = Vocabulary()
        space.snapshot(also=also)
        assert space.forget("id", "1") == Forgotten(
            passages=1, statements=1, concepts=1, relations=2, summaries=1
        )
        three = prepared("3", "She saw [Bo]", "then she ran to [Di]", "[Di] hid")
        four = prepared("4", "[Bo] met [Di]", "{He>bo} ran, she sat")
        kept: list[PreparedUpdate | Summary] = [
            replace(prepared("2", "[Cy] sat", session="other"), t_index=2),
            # No new pair is made up for the concept that is no longer between.
            replace(three, t_index=3, neighbours=()),
            replace(four, t_index=4),
            summary("di", 4),
        ]
        assert space.snapshot(also=also) == oracle_snapshot(4, kept, also)

    def test_a_statement_of_the_antecedents_passage(self, space: Space) -> None:
        """A mention stays while some statement of the antecedent's passage spells the concept."""
        space.write(
            prepared("1", "[Ann] met [Bo]", "[Ann] ran", "{she>ann} sat"),
            prepared("2", "{She>ann@1} sang to {him>bo@1}"),
        )
        assert space.forget("statement", "1#0") == Forgotten(statements=1, concepts=1, relations=1)
        with space.reader() as reader:
            found = reader.statements([statement_key(1, 2), statement_key(2, 0)])
            assert _concepts_of(found) == [["ann"], ["ann"]]
        assert space.forget("statement", "1#1") == Forgotten(statements=1, concepts=1)
        with space.reader() as reader:
            found = reader.statements([statement_key(1, 2), statement_key(2, 0)])
            assert [(statement.text, statement.concepts) for statement in found] == [
                ("she sat", ()),
                ("She sang to him", ()),
            ]
            assert reader.stats().concepts == 0

    def test_a_concept_goes_with_its_pronouns(self, space: Space) -> None:
        """To forget a concept is to forget what pronouns say of it too."""
        space.write(prepared("1", "[Ann] sat"), prepared("2", "{She>ann@1} ran", "[Bo]"))
        assert space.forget("concept", "ann") == Forgotten(
            passages=1, statements=2, concepts=1, relations=1
        )

    def test_references_to_a_replaced_passage(self, space: Space) -> None:
        """They go, stored or in the batch; those to the passage in its place stay."""
        space.write(prepared("1", "[Ann] sat"), prepared("2", "{She>ann@1} ran"))
        space.apply(
            [
                prepared("3", "{She>ann@1} hid"),
                prepared("1", "[Ann] hid, {she>ann@1}", "[Bo] ate", replaces=True),
                prepared("4", "{She>ann@1} ate with {him>bo@1}"),
            ]
        )
        with space.reader() as reader:
            said = reader.statements([statement_key(t, 0) for t in range(1, 6)])
            assert [statement.passage_id for statement in said] == ["2", "3", "1", "4"]
            assert _concepts_of(said) == [[], [], ["ann"], ["ann", "bo"]]

    def test_references_to_no_passage(self, space: Space) -> None:
        """An antecedent that was forgotten before the update came is none, nor is a later one."""
        batch = [
            prepared("1", "{She>ann@0} saw [Bo], {her>cy@1}"),
            prepared("2", "{He>bo@1} ran with {her>di@3}"),
            prepared("3", "[Di]"),
        ]
        space.apply(batch)
        space.beside("-copy").restore(
            3, [replace(statement, t_index=t) for t, statement in enumerate(batch, 1)]
        )
        for each in (space, space.beside("-copy")):
            with each.reader() as reader:
                assert [row.name for row in reader.concepts()] == ["di", "bo"]
                said = reader.statements([statement_key(t, 0) for t in range(1, 4)])
                assert _concepts_of(said) == [["bo"], ["bo"], ["di"]]
                assert reader.relations(["bo"], limit=9) == []

    def test_an_entity_that_is_told_twice_at_one_place(self, space: Space) -> None:
        """It goes with a mention of any concept that it was told to stand on there."""
        told = (entity("e", "Eve", position=0), entity("e", "Ann", position=0))
        others = (entity("f", "Fay", position=0), entity("e", "Eve", position=1))
        space.write(
            prepared("1", "{She>ann@none} ran", "[Bo] sat", entities=(*told, *others[:1])),
            prepared("2", "{She>ann@none} ran", "[Bo] sat", entities=(*told, *others)),
        )
        with space.reader() as reader:
            assert [(entity.id, entity.updates) for entity in reader.entities()] == [
                ("e", 1),
                ("f", 2),
            ]
            assert [concept.name for concept in reader.concepts()] == ["bo", "eve", "fay"]
