"""Summaries, and the compare-and-set that writes them."""

from __future__ import annotations

from dataclasses import replace

from recallm.model import PreparedUpdate, WriteSummary
from tests.store_suite.marked_text import entity, prepared
from tests.store_suite.topics.base import Space, StoreTests, summaries, summary


class RevisingTests(StoreTests):
    """``WriteSummary``."""

    def test_a_summary_is_in_force(self, space: Space) -> None:
        """The summary comes back unchanged with its concept; statements and totals stay."""
        space.write(prepared("1", "[Ann] met [Bo]"), prepared("2", "[Ann] ran"))
        before = space.snapshot()
        written = replace(summary("ann", 2, "Ann: 'ran' \x00 😀"), terms=("run", "ann", "run"))
        assert space.amend(WriteSummary(summary=written, statements=2))
        after = space.snapshot()
        with space.reader() as reader:
            assert summaries(reader, ["ann", "bo"]) == {"ann": written}
        assert after["stats"] == replace(before["stats"], summaries=1)
        for kind in ("t_index", "statements", "relations", "postings", "mentions", "sizes"):
            assert after[kind] == before[kind]
        ann = next(c for c in before["concepts"] if c.name == "ann")
        bo = next(c for c in before["concepts"] if c.name == "bo")
        assert after["concepts"] == [replace(ann, merges=0, summary=written), bo]

    def test_stale_after_an_update(self, space: Space) -> None:
        """An update of the concept during the revision makes the summary stale."""
        space.write(prepared("1", "[Ann] ran"))
        space.write(prepared("2", "[Ann] sat"))
        before = space.snapshot()
        assert not space.amend(WriteSummary(summary=summary("ann", 1), statements=1))
        assert space.snapshot() == before

    def test_still_fresh_after_another_concept(self, space: Space) -> None:
        """Updates that do not touch the concept do not make it stale; a fact of it does."""
        space.write(prepared("1", "[Ann] ran"), prepared("2", "[Bo] sat"))
        assert space.amend(WriteSummary(summary=summary("ann", 1), statements=1))
        space.write(PreparedUpdate(id="", text=None, entities=(entity("e", "Ann"),)))
        assert not space.amend(WriteSummary(summary=summary("ann", 1), statements=1))
        assert space.amend(WriteSummary(summary=summary("ann", 3), statements=1))

    def test_stale_after_forgetting(self, space: Space) -> None:
        """Forgetting any statement of the concept makes the summary stale."""
        space.write(prepared("1", "[Ann] ran"), prepared("2", "[Ann] sat"))
        space.forget("id", "1")
        assert not space.amend(WriteSummary(summary=summary("ann", 2), statements=2))
        space.forget("id", "2")
        assert not space.amend(WriteSummary(summary=summary("ann", 2), statements=2))
        with space.reader() as reader:
            assert summaries(reader, ["ann"]) == {}

    def test_a_summary_of_the_same_t_is_replaced(self, space: Space) -> None:
        """A second summary at the same t replaces the first."""
        space.write(prepared("1", "[Ann] ran"))
        for text in ("first", "second"):
            assert space.amend(WriteSummary(summary=summary("ann", 1, text), statements=1))
        assert space.snapshot()["dump"][1:] == [summary("ann", 1, "second")]

    def test_summaries_of_some_names(self, space: Space) -> None:
        """A concept has one summary, the latest, or None."""
        space.write(prepared("1", "[Ann] met [Bo]"))
        for name in ("ann", "bo"):
            assert space.amend(WriteSummary(summary=summary(name, 1), statements=1))
        space.write(prepared("2", "[Ann] sat"))
        assert space.amend(WriteSummary(summary=summary("ann", 2), statements=2))
        with space.reader() as reader:
            assert summaries(reader, ["ann", "cy", "ann"]) == {"ann": summary("ann", 2)}
            assert summaries(reader, []) == {}
            assert reader.stats().summaries == 2
            assert list(reader.dump())[2:] == [summary("bo", 1), summary("ann", 2)]

    def test_revising_what_is_not_there(self, space: Space) -> None:
        """A concept without statements cannot be revised."""
        amendment = WriteSummary(summary=summary("ann", 1), statements=1)
        assert not space.amend(amendment)
        assert not space.is_listed()
        space.write(prepared("1", "[Bo] ran"))
        assert not space.amend(amendment)
