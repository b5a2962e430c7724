"""Summaries, and the compare-and-set that writes them."""

from __future__ import annotations

from dataclasses import replace

from recallm.model import ContextVersion, PreparedUpdate, WriteSummary
from tests.store_suite.marked_text import entity, prepared
from tests.store_suite.topics.base import Space, StoreTests, context_version, summaries, summary


def _version(space: Space, concept: str = "ann") -> ContextVersion:
    with space.reader() as reader:
        found = context_version(reader, concept)
    assert found is not None
    return found


class RevisingTests(StoreTests):
    """``GraphStore.revise``."""

    def test_a_version_says_what_was_read(self, space: Space) -> None:
        """It holds the t of the latest statement, the number of statements, and the t of the
        summary."""
        space.write(
            prepared("1", "[Ann] ran", "[Ann] sat"),
            prepared("2", "[Ann] met [Bo]"),
            prepared("3", "[Bo] sat"),
            PreparedUpdate(id="", text=None, entities=(entity("e", "Ann"), entity("f", "Fay"))),
        )
        expected = ContextVersion(t_index=2, statements=3, summary_t=None)
        assert _version(space) == expected
        assert space.amend(WriteSummary(summary=summary("ann", 2), expected=expected))
        assert _version(space) == replace(expected, summary_t=2)
        assert _version(space, "bo").summary_t is None
        with space.reader() as reader:
            assert context_version(reader, "fay") is None
            assert context_version(reader, "nobody") is None

    def test_a_summary_is_in_force(self, space: Space) -> None:
        """The summary comes back unchanged with its concept; statements and totals stay."""
        space.write(prepared("1", "[Ann] met [Bo]"), prepared("2", "[Ann] ran"))
        before = space.snapshot()
        written = replace(summary("ann", 2, "Ann: 'ran' \x00 😀"), terms=("run", "ann", "run"))
        assert space.amend(WriteSummary(summary=written, expected=_version(space)))
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
        read = _version(space)
        space.write(prepared("2", "[Ann] sat"))
        before = space.snapshot()
        assert not space.amend(WriteSummary(summary=summary("ann", 1), expected=read))
        assert space.snapshot() == before

    def test_still_fresh_after_another_concept(self, space: Space) -> None:
        """Updates that do not mention the concept do not make it stale."""
        space.write(prepared("1", "[Ann] ran"))
        read = _version(space)
        space.write(
            prepared("2", "[Bo] sat"),
            PreparedUpdate(id="", text=None, entities=(entity("e", "Ann"),)),
        )
        assert space.amend(WriteSummary(summary=summary("ann", 1), expected=read))
        with space.reader() as reader:
            assert reader.concepts(["ann"])[0].merges == 1

    def test_stale_after_forgetting(self, space: Space) -> None:
        """Forgetting any statement of the concept makes the summary stale."""
        space.write(prepared("1", "[Ann] ran"), prepared("2", "[Ann] sat"))
        read = _version(space)
        space.forget("id", "1")
        assert not space.amend(WriteSummary(summary=summary("ann", 2), expected=read))
        space.forget("id", "2")
        assert not space.amend(WriteSummary(summary=summary("ann", 2), expected=read))
        with space.reader() as reader:
            assert summaries(reader, ["ann"]) == {}

    def test_of_two_writers_one_wins(self, space: Space) -> None:
        """Of two revisions of one version the second is stale."""
        space.write(prepared("1", "[Ann] ran"))
        read = _version(space)
        assert space.amend(WriteSummary(summary=summary("ann", 1, "first"), expected=read))
        assert not space.amend(WriteSummary(summary=summary("ann", 1, "second"), expected=read))
        with space.reader() as reader:
            assert summaries(reader, ["ann"])["ann"].text == "first"

    def test_a_summary_of_the_same_t_is_replaced(self, space: Space) -> None:
        """A second summary at the same t replaces the first."""
        space.write(prepared("1", "[Ann] ran"))
        for text in ("first", "second"):
            version = _version(space)
            assert space.amend(WriteSummary(summary=summary("ann", 1, text), expected=version))
        assert space.snapshot()["dump"][1:] == [summary("ann", 1, "second")]

    def test_summaries_of_some_names(self, space: Space) -> None:
        """A concept has one summary, the latest, or None."""
        space.write(prepared("1", "[Ann] met [Bo]"))
        for name in ("ann", "bo"):
            version = _version(space, name)
            assert space.amend(WriteSummary(summary=summary(name, 1), expected=version))
        space.write(prepared("2", "[Ann] sat"))
        version = _version(space)
        assert version == ContextVersion(t_index=2, statements=2, summary_t=1)
        assert space.amend(WriteSummary(summary=summary("ann", 2), expected=version))
        with space.reader() as reader:
            assert summaries(reader, ["ann", "cy", "ann"]) == {"ann": summary("ann", 2)}
            assert summaries(reader, []) == {}
            assert reader.stats().summaries == 2
            assert list(reader.dump())[2:] == [summary("bo", 1), summary("ann", 2)]

    def test_revising_what_is_not_there(self, space: Space) -> None:
        """A concept without statements cannot be revised."""
        expected = ContextVersion(t_index=1, statements=1, summary_t=None)
        assert not space.amend(WriteSummary(summary=summary("ann", 1), expected=expected))
        assert not space.is_listed()
        space.write(prepared("1", "[Bo] ran"))
        assert not space.amend(WriteSummary(summary=summary("ann", 1), expected=expected))
