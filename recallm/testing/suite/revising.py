"""Summaries, and the compare-and-set that writes them."""

from __future__ import annotations

from dataclasses import replace

from recallm.model import ContextVersion, Horizon, PreparedUpdate
from recallm.stores.base import GraphStore
from recallm.testing.marked_text import entity, prepared
from recallm.testing.suite.base import StoreTests, forget, seen, summary, tell

__all__ = ["RevisingTests"]


def _version(store: GraphStore, namespace: str, concept: str = "ann") -> ContextVersion:
    with store.reader(namespace, Horizon()) as reader:
        found = reader.context_version(concept)
    assert found is not None
    return found


class RevisingTests(StoreTests):
    """``GraphStore.revise``."""

    def test_a_version_says_what_was_read(self, store: GraphStore, namespace: str) -> None:
        """The t of the latest statement, the number of all, the t of the summary."""
        tell(
            store,
            namespace,
            prepared("1", "[Ann] ran", "[Ann] sat"),
            prepared("2", "[Ann] met [Bo]"),
            prepared("3", "[Bo] sat"),
            PreparedUpdate(id="", text=None, entities=(entity("e", "Ann"), entity("f", "Fay"))),
        )
        expected = ContextVersion(t_index=2, statements=3, summary_t=None)
        assert _version(store, namespace) == expected
        assert store.revise(namespace, summary("ann", 2), expected=expected)
        assert _version(store, namespace) == replace(expected, summary_t=2)
        assert _version(store, namespace, "bo").summary_t is None
        with store.reader(namespace, Horizon()) as reader:
            assert reader.context_version("fay") is None
            assert reader.context_version("nobody") is None

    def test_a_summary_is_in_force(self, store: GraphStore, namespace: str) -> None:
        """It comes back whole, for its concept alone; statements and totals stay."""
        tell(store, namespace, prepared("1", "[Ann] met [Bo]"), prepared("2", "[Ann] ran"))
        before = seen(store, namespace)
        written = replace(summary("ann", 2, "Ann: 'ran' \x00 😀"), terms=("run", "ann", "run"))
        assert store.revise(namespace, written, expected=_version(store, namespace))
        after = seen(store, namespace)
        assert after["summaries"] == {"ann": written}
        assert after["stats"] == replace(before["stats"], summaries=1)
        for kind in ("t_index", "statements", "relations", "postings", "mentions", "corpus"):
            assert after[kind] == before[kind]
        ann = next(c for c in before["concepts"] if c.name == "ann")
        bo = next(c for c in before["concepts"] if c.name == "bo")
        assert after["concepts"] == [replace(ann, merges=0), bo]

    def test_stale_after_an_update(self, store: GraphStore, namespace: str) -> None:
        """What came while the summary was made wins."""
        tell(store, namespace, prepared("1", "[Ann] ran"))
        read = _version(store, namespace)
        tell(store, namespace, prepared("2", "[Ann] sat"))
        before = seen(store, namespace)
        assert not store.revise(namespace, summary("ann", 1), expected=read)
        assert seen(store, namespace) == before

    def test_still_fresh_after_another_concept(self, store: GraphStore, namespace: str) -> None:
        """Updates that do not mention the concept do not matter."""
        tell(store, namespace, prepared("1", "[Ann] ran"))
        read = _version(store, namespace)
        tell(
            store,
            namespace,
            prepared("2", "[Bo] sat"),
            PreparedUpdate(id="", text=None, entities=(entity("e", "Ann"),)),
        )
        assert store.revise(namespace, summary("ann", 1), expected=read)
        with store.reader(namespace, Horizon()) as reader:
            assert reader.concepts(["ann"])[0].merges == 1

    def test_stale_after_forgetting(self, store: GraphStore, namespace: str) -> None:
        """A statement that went makes the summary stale, even an old one."""
        tell(store, namespace, prepared("1", "[Ann] ran"), prepared("2", "[Ann] sat"))
        read = _version(store, namespace)
        forget(store, namespace, "id", "1")
        assert not store.revise(namespace, summary("ann", 2), expected=read)
        forget(store, namespace, "id", "2")
        assert not store.revise(namespace, summary("ann", 2), expected=read)
        with store.reader(namespace, Horizon()) as reader:
            assert reader.summaries(["ann"]) == {}

    def test_of_two_writers_one_wins(self, store: GraphStore, namespace: str) -> None:
        """The second, which read the same, finds the first one's summary."""
        tell(store, namespace, prepared("1", "[Ann] ran"))
        read = _version(store, namespace)
        assert store.revise(namespace, summary("ann", 1, "first"), expected=read)
        assert not store.revise(namespace, summary("ann", 1, "second"), expected=read)
        with store.reader(namespace, Horizon()) as reader:
            assert reader.summaries(["ann"])["ann"].text == "first"

    def test_a_summary_of_the_same_t_is_replaced(self, store: GraphStore, namespace: str) -> None:
        """Revised again with nothing new: one summary, the later one."""
        tell(store, namespace, prepared("1", "[Ann] ran"))
        for text in ("first", "second"):
            version = _version(store, namespace)
            assert store.revise(namespace, summary("ann", 1, text), expected=version)
        assert seen(store, namespace)["dump"][1:] == [summary("ann", 1, "second")]

    def test_summaries_of_some_names(self, store: GraphStore, namespace: str) -> None:
        """Only those asked for that have one; earlier ones are kept below the latest."""
        tell(store, namespace, prepared("1", "[Ann] met [Bo]"))
        for name in ("ann", "bo"):
            version = _version(store, namespace, name)
            assert store.revise(namespace, summary(name, 1), expected=version)
        tell(store, namespace, prepared("2", "[Ann] sat"))
        version = _version(store, namespace)
        assert version == ContextVersion(t_index=2, statements=2, summary_t=1)
        assert store.revise(namespace, summary("ann", 2), expected=version)
        with store.reader(namespace, Horizon()) as reader:
            assert reader.summaries(["ann", "cy", "ann"]) == {"ann": summary("ann", 2)}
            assert reader.summaries([]) == {}
            assert reader.stats().summaries == 2
            assert list(reader.dump())[2:] == [
                summary("ann", 1),
                summary("bo", 1),
                summary("ann", 2),
            ]

    def test_revising_what_is_not_there(self, store: GraphStore, namespace: str) -> None:
        """No statement, no version, no summary."""
        expected = ContextVersion(t_index=1, statements=1, summary_t=None)
        assert not store.revise(namespace, summary("ann", 1), expected=expected)
        assert namespace not in store.namespaces()
        tell(store, namespace, prepared("1", "[Bo] ran"))
        assert not store.revise(namespace, summary("ann", 1), expected=expected)
