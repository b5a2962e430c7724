"""Passages, statements, postings, mentions, vectors, sizes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

from recallm.model import (
    CorpusSize,
    Filter,
    Horizon,
    PreparedUpdate,
    SessionSize,
    Stats,
    StoredStatement,
    Trait,
    statement_key,
)
from recallm.stores.base import GraphReader
from tests.store_suite.marked_text import entity, prepared, triplet, vector
from tests.store_suite.topics.base import (
    NOON,
    Space,
    StoreTests,
    at,
    find_passage,
    revisable,
    summaries,
)


class ReadingTests(StoreTests):
    """What readers give back of what updates brought."""

    def test_an_unknown_namespace_is_empty(self, space: Space) -> None:
        """An unknown namespace is empty, and reading does not create it."""
        with space.reader() as reader:
            assert reader.state.t_index == 0
            assert find_passage(reader, "a") is None
            assert reader.statements([1, statement_key(1, 0)]) == []
            assert reader.postings(["a"], limit=5, where=Filter()) == {}
            assert reader.mentions(["a"], limit=5, where=Filter()) == {}
            assert reader.concepts() == []
            assert reader.relations(["a"], limit=5) == []
            assert summaries(reader, ["a"]) == {}
            assert reader.entities() == []
            assert reader.triplets() == []
            assert reader.sizes().corpus == CorpusSize(statements=0, terms=0, sessions=0)
            assert reader.sizes(["=a", "@1"]).sessions == {}
            assert reader.vectors([statement_key(1, 0)], model="m") == {}
            assert revisable(reader, "a") is None
            assert reader.stats() == Stats(**dict.fromkeys(Stats.__slots__, 0))
            assert list(reader.dump()) == []
        assert not space.is_listed()

    def test_a_passage_comes_back_verbatim(self, space: Space) -> None:
        """Every field of a passage comes back as given, timestamps to the microsecond."""
        east = timezone(timedelta(hours=5, minutes=30))
        said = datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=east)
        update = prepared(
            "a",
            "[Ann] sings",
            source="book.txt",
            session="chat 1",
            speaker="Ann",
            speaker_concept="ann",
            timestamp=said,
            metadata={"nested": {"list": [1, None, "é", {"deep": 1.5}]}, "": False},
            path=("users", "ann"),
            key="k",
            expires_at=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        )
        spaced = replace(update, id="b", text=f"  {update.text}\r\n\t", path=(), key=None)
        space.write(update, spaced, PreparedUpdate(id="c", text=""))
        first, second, third = map(space.passage, "abc")
        for name in ("id", "text", "source", "session", "speaker", "timestamp", "metadata"):
            assert getattr(first, name) == getattr(update, name)
        assert (first.path, first.key) == (("users", "ann"), "k")
        assert first.expires_at == update.expires_at
        assert (second.t_index, second.text, second.path) == (2, "  Ann sings\r\n\t", ())
        assert (third.text, third.timestamp, third.metadata) == ("", None, {})
        assert (third.source, third.session, third.speaker, third.key) == (None,) * 4

    def test_metadata_keeps_its_order(self, space: Space) -> None:
        """The keys of objects stand as they were given, at any depth, in an archive too."""
        metadata = {"b": {"z": 1, "a": [{"y": {}, "x": 2}]}, "a": {"k": 1}}
        space.write(prepared("1", "[Ann]", metadata=metadata))
        with space.reader() as reader:
            [statement] = reader.statements([statement_key(1, 0)])
        for found in (space.passage("1"), statement, space.copied().passage("1")):
            assert json.dumps(dict(found.metadata)) == json.dumps(metadata)

    def test_a_statement_comes_back_whole(self, space: Space) -> None:
        """A statement is its span of the text, with terms and concepts as they stood."""
        update = prepared(
            "p#1",
            "[Ann] sings, [Bo] sings",
            "does [Ann] sleep?",
            gap=" \n ",
            source="s",
            speaker="Cy",
            speaker_concept="cy",
            timestamp=NOON,
            metadata={"a": [1]},
        )
        space.write(update)
        with space.reader() as reader:
            one, two = reader.statements([statement_key(1, 1), statement_key(1, 0)])
        assert (one.text, two.text) == ("Ann sings, Bo sings", "does Ann sleep?")
        assert one.terms == ("ann", "sings", "bo", "sings")
        assert one.concepts == update.statements[0].concepts
        assert (one.traits, two.traits) == (Trait(0), Trait.QUESTION)
        assert (one.id, two.id) == ("p#1#0", "p#1#1")
        assert (one.t_index, two.position) == (1, 1)
        assert (one.speaker, one.speaker_concept) == ("Cy", "cy")
        assert (one.source, one.session, one.session_key) == ("s", None, "=s")
        assert (one.timestamp, one.metadata) == (NOON, {"a": [1]})
        assert (one.previous, one.next) == (None, two.key)
        assert (two.previous, two.next) == (one.key, None)

    def test_statements_by_key(self, space: Space) -> None:
        """Ascending by key, each once, unknown keys left out."""
        space.write(prepared("a", "[Ann]", "[Bo]"), prepared("b", "[Cy]"))
        keys = [statement_key(2, 0), statement_key(1, 1), statement_key(2, 0)]
        with space.reader() as reader:
            found = reader.statements([*keys, statement_key(1, 2), statement_key(9, 0), 0, 1])
            assert [s.key for s in found] == [keys[1], keys[0]]
            assert reader.statements([]) == []

    def test_statements_ahead(self, space: Space) -> None:
        """Asked for those around it, a statement may bring up to so many before and after it in
        its session: each visible, and as by its own key."""
        for place in range(9):
            session = "other" if place == 4 else "talk"
            expiry = NOON if place == 6 else None
            update = prepared(str(place), f"{place} [Ann]", session=session, expires_at=expiry)
            space.apply([update])
        around = [statement_key(t, 0) for t in (1, 2, 3, 4, 6, 8)]
        with space.reader(Horizon(now=NOON, as_of=8)) as reader:
            for ahead in (1, 2, 99):
                found = reader.statements([around[3], statement_key(99, 0)], ahead=ahead)
                keys = [row.key for row in found]
                assert keys == sorted(keys)
                assert {around[3]} <= {*keys} <= {*around[max(0, 3 - ahead) : 4 + ahead]}
                assert found == reader.statements(keys)
            visible = [*around, statement_key(5, 0)]
            assert reader.statements(visible, ahead=3) == reader.statements(visible)

    def test_reads_together(self, space: Space) -> None:
        """Reads together give what each gives alone, however many they are, and where one read
        needs the answer of another."""
        blob = b"\x00\x3c\x00\x00"
        space.write(
            prepared("a", "[Ann] sings in [Rome]", vectors=(vector(0, blob),)),
            prepared("b", "[Bob] sings with [Ann]", vectors=(vector(0, blob),)),
            PreparedUpdate(
                id="",
                text=None,
                entities=(entity("ann", "Ann"), entity("rome", "Rome")),
                triplets=(triplet("ann", "lives in", "rome"),),
            ),
            prepared("c", "[Ann] rests"),
        )
        keys = [statement_key(1, 0), statement_key(2, 0)]

        def chained(reader: GraphReader) -> list[StoredStatement]:
            mentions = reader.mentions(["ann"], limit=None, where=Filter())
            return reader.statements(mentions["ann"].keys.tolist())

        reads: list[Callable[[GraphReader], object]] = [
            lambda reader: reader.postings(["sings", "rome"], limit=5, where=Filter()),
            lambda reader: reader.postings(["sings"], limit=1, where=Filter(until=1)),
            lambda reader: reader.mentions(["ann", "bob"], limit=5, where=Filter()),
            lambda reader: reader.concepts(["ann", "rome"]),
            lambda reader: reader.concepts(limit=2),
            lambda reader: reader.relations(["ann"], limit=1),
            lambda reader: reader.relations(["ann", "rome", "bob"], among=True),
            lambda reader: reader.sizes(["@1"]),
            lambda reader: reader.passages(ids=["a", "b"]),
            lambda reader: reader.passages(Filter(session="s")),
            lambda reader: reader.passages(limit=1),
            lambda reader: reader.t_indexes(Filter()),
            lambda reader: reader.sessions(),
            lambda reader: reader.entities(),
            lambda reader: reader.triplets(),
            lambda reader: reader.triplet_evidence(subjects=["ann"], predicates=["lives in"]),
            lambda reader: reader.predicates(),
            lambda reader: reader.entities_by_words(["ann"], limit=3),
            lambda reader: reader.vectors(model="m"),
            lambda reader: reader.vectors(keys, model="m"),
            lambda reader: reader.entity_vectors(model="m"),
            lambda reader: reader.statement_keys(embedded=True),
            lambda reader: reader.statement_keys(embedded=False),
            lambda reader: reader.statements(keys),
            lambda reader: reader.statements(keys[:1], ahead=1)[:1],
            lambda reader: reader.stats(),
            lambda reader: reader.paths(),
            chained,
            lambda reader: reader.together(chained, lambda reader: reader.concepts(["bob"])),
        ]
        for horizon in (Horizon(), Horizon(as_of=2)):
            with space.reader(horizon) as reader:
                assert reader.together(*reads) == [read(reader) for read in reads]
                assert reader.together() == []

    def test_every_trait_comes_back(self, space: Space) -> None:
        """Traits come back as a set of flags."""
        one = prepared("a", "[Ann]")
        all_traits = ~Trait(0)
        [statement] = one.statements
        space.write(replace(one, statements=(replace(statement, traits=all_traits),)))
        with space.reader() as reader:
            assert reader.statements([statement_key(1, 0)])[0].traits == all_traits

    def test_postings(self, space: Space) -> None:
        """Newest first, with counts and sessions; ``statements`` counts beyond the limit."""
        space.write(
            prepared("a", "tea and tea", "tea", session="s"),
            prepared("b", "milk"),
            prepared("c", "tea tea tea", timestamp=NOON),
        )
        with space.reader() as reader:
            found = reader.postings(["tea", "milk", "rum"], limit=2, where=Filter())
            assert sorted(found) == ["milk", "tea"]
            tea = [(statement_key(3, 0), 3, "@3"), (statement_key(1, 1), 1, "=s")]
            assert found["tea"].rows() == (3, tea)
            assert found["tea"].session_names() == {"@3", "=s"}
            assert found["milk"].rows() == (1, [(statement_key(2, 0), 1, None)])
            assert found["milk"].session_names() == set()
            every = reader.postings(["tea"], limit=9, where=Filter())["tea"]
            assert every.rows() == (3, [*tea, (statement_key(1, 0), 2, "=s")])
            none = reader.postings(["tea"], limit=9, where=Filter(session="nowhere"))["tea"]
            assert none.rows() == (3, [])
            assert reader.postings([], limit=9, where=Filter()) == {}

    def test_mentions(self, space: Space) -> None:
        """Newest first; ``statements`` counts beyond the limit and the filter."""
        space.write(
            prepared("a", "[Ann]", "[Bo]", "[Ann] [Ann]"),
            prepared("b", "[Ann]", source="s"),
            prepared("c", "[Di]", entities=(entity("x", "Only"),)),
        )
        keys = (statement_key(2, 0), statement_key(1, 2), statement_key(1, 0))
        with space.reader() as reader:
            found = reader.mentions(["ann", "bo", "nobody", "only"], limit=None, where=Filter())
            ann = [(keys[0], 1, "=s"), (keys[1], 1, None), (keys[2], 1, None)]
            assert {name: mentions.rows() for name, mentions in found.items()} == {
                "ann": (3, ann),
                "bo": (1, [(statement_key(1, 1), 1, None)]),
            }
            two = reader.mentions(["ann"], limit=2, where=Filter())["ann"]
            assert two.rows() == (3, ann[:2])
            met = reader.mentions(["ann", "bo"], limit=2, where=Filter(session="s"))
            assert met["ann"].rows() == (3, ann[:1])
            assert met["bo"].rows() == (1, [])

    def test_a_limit_counts_after_the_filter(self, space: Space) -> None:
        """The newest statements that meet the filter are found behind any number that do not."""
        space.write(prepared("old", "[Ann] said", speaker="Bo"))
        space.apply([prepared(f"{n}", f"[Ann] said {n}") for n in range(300)])
        where = Filter(speaker="Bo")
        with space.reader() as reader:
            assert reader.mentions(["ann"], limit=1, where=where)["ann"].keys.tolist() == [1 << 20]
            assert reader.postings(["said"], limit=1, where=where)["said"].keys.tolist() == [
                1 << 20
            ]

    def test_sizes(self, space: Space) -> None:
        """The corpus, its sessions, and the statistics count what is there."""
        space.write(
            prepared("a", "one two", "three", session="s"),
            prepared("b", "four", source="s"),
            prepared("c", "[Ann] met [Bo]", timestamp=NOON, vectors=(vector(0, b"v"),)),
            prepared("d", "[Ann]", "[Cy]", entities=(entity("x", "X"), entity("y", "Y"))),
            PreparedUpdate(id="", text=None, triplets=(triplet("x", "is", "y"),)),
        )
        with space.reader() as reader:
            assert reader.sizes().corpus == CorpusSize(statements=6, terms=9, sessions=2)
            assert reader.sizes(["=s", "@3", "@4", "=other"]).sessions == {
                "=s": SessionSize(statements=3, terms=4),
                "@3": SessionSize(statements=1, terms=3),
            }
            assert reader.stats() == Stats(
                t_index=5,
                passages=4,
                statements=6,
                concepts=5,
                relations=2,
                entities=2,
                triplets=1,
                summaries=0,
                vectors=1,
                sessions=2,
            )

    def test_many_statements_in_one_passage(self, space: Space) -> None:
        """A long passage keeps every statement at its place."""
        space.write(prepared("a", *(f"[Ann] says word{n}" for n in range(2500))))
        with space.reader() as reader:
            assert reader.stats().statements == 2500
            found = reader.statements([statement_key(1, n) for n in range(2500)])
            assert [s.position for s in found] == list(range(2500))
            assert found[-1].text == "Ann says word2499"
            assert found[-1].previous == statement_key(1, 2498)
            stems = [f"word{n}" for n in range(2500)]
            postings = reader.postings(stems, limit=1, where=Filter())
            assert [postings[stem].keys[0] & 0xFFFFF for stem in stems] == list(range(2500))

    def test_statements_before_and_after_in_their_session(self, space: Space) -> None:
        """``previous`` and ``next`` follow each of several interleaved sessions."""
        space.write(
            prepared("1", "[Ann]", "[Bo]", session="s"),
            prepared("2", "[Ann]", timestamp=at(0)),
            prepared("3", "[Ann]", "[Bo]"),
            prepared("4", "[Ann]", source="s"),
            prepared("5", "[Ann]", timestamp=at(59)),
            PreparedUpdate(id="6", text="…", session="s"),
            prepared("7", "[Ann]", session="s", source="t"),
            prepared("8", "[Ann]", timestamp=at(120)),
            prepared("9", "[Ann]", timestamp=at(61)),
            prepared("10", "[Ann]", source="t"),
        )
        rows = {
            "=s": [(1, 0), (1, 1), (4, 0), (7, 0)],
            "@2": [(2, 0), (5, 0)],
            "@8": [(8, 0), (9, 0)],
            "=t": [(10, 0)],
        }
        with space.reader() as reader:
            for session_key, places in rows.items():
                keys = [statement_key(*place) for place in places]
                found = reader.statements(keys)
                assert [s.session_key for s in found] == [session_key] * len(keys)
                assert [s.previous for s in found] == [None, *keys[:-1]]
                assert [s.next for s in found] == [*keys[1:], None]
            alone = reader.statements([statement_key(3, 0), statement_key(3, 1)])
            assert [s.session_key for s in alone] == [None, None]
            assert [s.previous for s in alone] == [None, statement_key(3, 0)]
            assert [s.next for s in alone] == [statement_key(3, 1), None]
            assert reader.sizes().corpus.sessions == 4
