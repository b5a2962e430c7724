"""References (pronouns that stand for a concept), and propositions (statements with a text of their
own)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from recallm.model import (
    ExtractedStatement,
    Filter,
    Horizon,
    Neighbours,
    PreparedUpdate,
    Reference,
    Trait,
    statement_key,
)
from recallm.stores.base import GraphStore
from recallm.testing.marked_text import mention, prepared
from recallm.testing.suite.base import (
    StoreTests,
    apply_each,
    find_passage,
    forget,
    snapshot_of,
)

__all__ = ["ReferenceTests"]


def _proposition(
    position: int, start: int, end: int, text: str | None, *concepts: str
) -> ExtractedStatement:
    """A statement about concepts with a span, and a text of its own unless that is None."""
    return ExtractedStatement(
        position=position,
        start=start,
        end=end,
        text=text,
        terms=concepts,
        concepts=tuple(mention(concept.title(), concept) for concept in concepts),
        traits=Trait(0),
    )


def _told() -> PreparedUpdate:
    """Two propositions that share a sentence, the second within the span of the first, and one
    sentence that is a statement as it stands."""
    text = "Ingrid, who lives in Malaga, codes. Bo naps."
    return PreparedUpdate(
        id="p",
        text=text,
        statements=(
            _proposition(0, 0, 35, "Ingrid codes.", "ingrid"),
            _proposition(1, 8, 27, "Ingrid lives in Malaga.", "ingrid", "malaga"),
            _proposition(2, 36, 44, None, "bo"),
        ),
        neighbours=(
            Neighbours(a="bo", b="malaga", earlier=1, later=2),
            Neighbours(a="ingrid", b="malaga", earlier=1, later=1),
        ),
    )


class ReferenceTests(StoreTests):
    """Mentions with a reference, and statements with a text of their own."""

    @pytest.mark.parametrize("id", ["p1", "", "\x00", "\x1d5\x1f\x1e", "a#0", "é" * 3000])
    def test_references_are_stored(self, store: GraphStore, namespace: str, id: str) -> None:
        """A reader and a dump give the mentions of a statement as they were written."""
        updates = [
            prepared(id, "[Ann] met [Bo]"),
            prepared("2", "Then {she>ann@p1} ran", "[Cy] sat, {he>cy}"),
        ]
        first, second = updates[1].statements
        [she] = first.concepts
        assert she.reference == Reference(5, 8, "p1")
        first = replace(first, concepts=(replace(she, reference=Reference(5, 8, id)),))
        updates[1] = replace(updates[1], statements=(first, second))
        apply_each(store, namespace, *updates)
        with store.reader(namespace, Horizon()) as reader:
            found = [
                it.concepts for it in reader.statements([statement_key(2, n) for n in range(2)])
            ]
            assert found == [first.concepts, second.concepts]
            assert reader.mentions(["ann"], limit=9, where=Filter())["ann"].keys == (
                statement_key(2, 0),
                statement_key(1, 0),
            )
            [ann] = reader.concepts(["ann"])
            assert (ann.label, ann.updates, ann.statements) == ("Ann", 2, 2)
            assert list(reader.dump()) == [
                replace(update, t_index=t) for t, update in enumerate(updates, 1)
            ]

    def test_propositions_are_stored(self, store: GraphStore, namespace: str) -> None:
        """A statement says its own text, and knows its span, which others may share."""
        apply_each(store, namespace, _told())
        with store.reader(namespace, Horizon()) as reader:
            found = reader.statements([statement_key(1, n) for n in range(3)])
            assert [(it.text, it.start, it.end) for it in found] == [
                ("Ingrid codes.", 0, 35),
                ("Ingrid lives in Malaga.", 8, 27),
                ("Bo naps.", 36, 44),
            ]
            assert [(it.previous, it.next) for it in found] == [
                (None, found[1].key),
                (found[0].key, found[2].key),
                (found[1].key, None),
            ]
            assert list(reader.dump()) == [replace(_told(), t_index=1)]

    def test_propositions_of_a_copy(self, store: GraphStore, namespace: str) -> None:
        """An archive holds references and the texts of propositions."""
        apply_each(store, namespace, _told(), prepared("2", "{She>ingrid@p} sat, {that>sit}"))
        with store.reader(namespace, Horizon()) as reader:
            records = list(reader.dump())
        store.restore(f"{namespace}-copy", 2, records)
        assert snapshot_of(store, f"{namespace}-copy") == snapshot_of(store, namespace)

    @pytest.mark.parametrize(
        ("position", "text", "spans"),
        [
            # A proposition has its own text: what both span goes with the one that is forgotten.
            (0, "Bo naps.", [(0, 0), (0, 8)]),
            (1, "Ingrid, , codes. Bo naps.", [(0, 16), (17, 25)]),
            (2, "Ingrid, who lives in Malaga, codes.", [(0, 35), (8, 27)]),
        ],
    )
    def test_a_proposition_is_forgotten(
        self,
        store: GraphStore,
        namespace: str,
        position: int,
        text: str,
        spans: list[tuple[int, int]],
    ) -> None:
        """A proposition goes with the text that it spans."""
        apply_each(store, namespace, _told())
        assert forget(store, namespace, "statement", f"p#{position}").statements == 1
        with store.reader(namespace, Horizon()) as reader:
            passage = find_passage(reader, "p")
            assert passage is not None
            assert passage.text == text
            found = reader.statements([statement_key(1, n) for n in range(3)])
            assert [(it.start, it.end) for it in found] == spans
            texts = ["Ingrid codes.", "Ingrid lives in Malaga.", "Bo naps."]
            del texts[position]
            assert [it.text for it in found] == texts

    def test_a_statement_keeps_its_words(self, store: GraphStore, namespace: str) -> None:
        """A statement without a text of its own keeps its span, also where a forgotten proposition
        lies within."""
        told = _told()
        whole = replace(told.statements[0], text=None)
        apply_each(store, namespace, replace(told, statements=(whole, *told.statements[1:])))
        forget(store, namespace, "statement", "p#1")
        with store.reader(namespace, Horizon()) as reader:
            passage = find_passage(reader, "p")
            assert passage is not None
            assert passage.text == told.text
            [statement, _] = reader.statements([statement_key(1, 0), statement_key(1, 2)])
            assert statement.text == "Ingrid, who lives in Malaga, codes."
