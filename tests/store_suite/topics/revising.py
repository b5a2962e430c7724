"""Summaries, and the compare-and-set that writes them."""

from __future__ import annotations

from dataclasses import replace

from recallm.model import ContextVersion, Horizon, PreparedUpdate, WriteSummary
from recallm.stores.base import GraphStore
from tests.store_suite.marked_text import entity, prepared
from tests.store_suite.topics.base import (
    StoreTests,
    apply_each,
    context_version,
    forget,
    snapshot_of,
    summaries,
    summary,
)


def _version(store: GraphStore, namespace: str, concept: str = "ann") -> ContextVersion:
    with store.reader(namespace, Horizon()) as reader:
        found = context_version(reader, concept)
    assert found is not None
    return found


class RevisingTests(StoreTests):
    """``GraphStore.revise``."""

    def test_a_version_says_what_was_read(self, store: GraphStore, namespace: str) -> None:
        """It holds the t of the latest statement, the number of statements, and the t of the
        summary."""
        apply_each(
            store,
            namespace,
            prepared("1", "[Ann] ran", "[Ann] sat"),
            prepared("2", "[Ann] met [Bo]"),
            prepared("3", "[Bo] sat"),
            PreparedUpdate(id="", text=None, entities=(entity("e", "Ann"), entity("f", "Fay"))),
        )
        expected = ContextVersion(t_index=2, statements=3, summary_t=None)
        assert _version(store, namespace) == expected
        assert store.amend(namespace, WriteSummary(summary=summary("ann", 2), expected=expected))
        assert _version(store, namespace) == replace(expected, summary_t=2)
        assert _version(store, namespace, "bo").summary_t is None
        with store.reader(namespace, Horizon()) as reader:
            assert context_version(reader, "fay") is None
            assert context_version(reader, "nobody") is None

    def test_a_summary_is_in_force(self, store: GraphStore, namespace: str) -> None:
        """The summary comes back unchanged with its concept; statements and totals stay."""
        apply_each(store, namespace, prepared("1", "[Ann] met [Bo]"), prepared("2", "[Ann] ran"))
        before = snapshot_of(store, namespace)
        written = replace(summary("ann", 2, "Ann: 'ran' \x00 😀"), terms=("run", "ann", "run"))
        assert store.amend(
            namespace, WriteSummary(summary=written, expected=_version(store, namespace))
        )
        after = snapshot_of(store, namespace)
        with store.reader(namespace, Horizon()) as reader:
            assert summaries(reader, ["ann", "bo"]) == {"ann": written}
        assert after["stats"] == replace(before["stats"], summaries=1)
        for kind in ("t_index", "statements", "relations", "postings", "mentions", "sizes"):
            assert after[kind] == before[kind]
        ann = next(c for c in before["concepts"] if c.name == "ann")
        bo = next(c for c in before["concepts"] if c.name == "bo")
        assert after["concepts"] == [replace(ann, merges=0, summary=written), bo]

    def test_stale_after_an_update(self, store: GraphStore, namespace: str) -> None:
        """An update of the concept during the revision makes the summary stale."""
        apply_each(store, namespace, prepared("1", "[Ann] ran"))
        read = _version(store, namespace)
        apply_each(store, namespace, prepared("2", "[Ann] sat"))
        before = snapshot_of(store, namespace)
        assert not store.amend(namespace, WriteSummary(summary=summary("ann", 1), expected=read))
        assert snapshot_of(store, namespace) == before

    def test_still_fresh_after_another_concept(self, store: GraphStore, namespace: str) -> None:
        """Updates that do not mention the concept do not make it stale."""
        apply_each(store, namespace, prepared("1", "[Ann] ran"))
        read = _version(store, namespace)
        apply_each(
            store,
            namespace,
            prepared("2", "[Bo] sat"),
            PreparedUpdate(id="", text=None, entities=(entity("e", "Ann"),)),
        )
        assert store.amend(namespace, WriteSummary(summary=summary("ann", 1), expected=read))
        with store.reader(namespace, Horizon()) as reader:
            assert reader.concepts(["ann"])[0].merges == 1

    def test_stale_after_forgetting(self, store: GraphStore, namespace: str) -> None:
        """Forgetting any statement of the concept makes the summary stale."""
        apply_each(store, namespace, prepared("1", "[Ann] ran"), prepared("2", "[Ann] sat"))
        read = _version(store, namespace)
        forget(store, namespace, "id", "1")
        assert not store.amend(namespace, WriteSummary(summary=summary("ann", 2), expected=read))
        forget(store, namespace, "id", "2")
        assert not store.amend(namespace, WriteSummary(summary=summary("ann", 2), expected=read))
        with store.reader(namespace, Horizon()) as reader:
            assert summaries(reader, ["ann"]) == {}

    def test_of_two_writers_one_wins(self, store: GraphStore, namespace: str) -> None:
        """Of two revisions of one version the second is stale."""
        apply_each(store, namespace, prepared("1", "[Ann] ran"))
        read = _version(store, namespace)
        assert store.amend(
            namespace, WriteSummary(summary=summary("ann", 1, "first"), expected=read)
        )
        assert not store.amend(
            namespace, WriteSummary(summary=summary("ann", 1, "second"), expected=read)
        )
        with store.reader(namespace, Horizon()) as reader:
            assert summaries(reader, ["ann"])["ann"].text == "first"

    def test_a_summary_of_the_same_t_is_replaced(self, store: GraphStore, namespace: str) -> None:
        """A second summary at the same t replaces the first."""
        apply_each(store, namespace, prepared("1", "[Ann] ran"))
        for text in ("first", "second"):
            version = _version(store, namespace)
            assert store.amend(
                namespace, WriteSummary(summary=summary("ann", 1, text), expected=version)
            )
        assert snapshot_of(store, namespace)["dump"][1:] == [summary("ann", 1, "second")]

    def test_summaries_of_some_names(self, store: GraphStore, namespace: str) -> None:
        """A concept has one summary, the latest, or None."""
        apply_each(store, namespace, prepared("1", "[Ann] met [Bo]"))
        for name in ("ann", "bo"):
            version = _version(store, namespace, name)
            assert store.amend(namespace, WriteSummary(summary=summary(name, 1), expected=version))
        apply_each(store, namespace, prepared("2", "[Ann] sat"))
        version = _version(store, namespace)
        assert version == ContextVersion(t_index=2, statements=2, summary_t=1)
        assert store.amend(namespace, WriteSummary(summary=summary("ann", 2), expected=version))
        with store.reader(namespace, Horizon()) as reader:
            assert summaries(reader, ["ann", "cy", "ann"]) == {"ann": summary("ann", 2)}
            assert summaries(reader, []) == {}
            assert reader.stats().summaries == 2
            assert list(reader.dump())[2:] == [summary("bo", 1), summary("ann", 2)]

    def test_revising_what_is_not_there(self, store: GraphStore, namespace: str) -> None:
        """A concept without statements cannot be revised."""
        expected = ContextVersion(t_index=1, statements=1, summary_t=None)
        assert not store.amend(
            namespace, WriteSummary(summary=summary("ann", 1), expected=expected)
        )
        assert namespace not in store.namespaces()
        apply_each(store, namespace, prepared("1", "[Bo] ran"))
        assert not store.amend(
            namespace, WriteSummary(summary=summary("ann", 1), expected=expected)
        )
