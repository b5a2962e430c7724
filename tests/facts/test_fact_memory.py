"""Facts written, read, changed and forgotten."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any
from uuid import uuid4

import pytest

from recallm import ConflictError, InvalidInputError, NewEntity, NewTriplet, RecallM
from recallm.facts import FactMemory, NewFact
from tests.facts.scripted import triplets
from tests.neo4j.fixtures import RunningServer

FIGURE_5 = [
    ("Mozella Baima", "employed by", "ExxonMobil"),
    ("Modesto Baichan", "employed by", "ExxonMobil"),
    ("Maryjane Bachand", "employed by", "BMW"),
    ("Willian Beasmore", "employed by", "BMW"),
    ("Willian Banik", "customer of", "BMW"),
]


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


# The paper's figures.


def test_figure_4_a_new_president_supersedes_the_old(facts: FactMemory) -> None:
    facts.write("Barack Obama", "president of", "United States")
    facts.write("Donald Trump", "president of", "United States")
    facts.write("Joe Biden", "president of", "United States")
    facts.write("Emmanuel Macron", "president of", "France")
    asked = facts.read(None, "president of", "the United States")
    assert triplets(asked) == [("Joe Biden", "president of", "United States")]
    assert [
        fact.subject for fact in facts.read(None, "president of", "United States", as_of=1)
    ] == ["Barack Obama"]
    assert facts.read("Donald Trump", "president of") == []
    [change] = facts.changes("Donald Trump", "president of")
    assert (change.since_t, change.until_t, change.ended_by) == (2, 3, "superseded")


def test_the_forms_of_a_query(facts: FactMemory) -> None:
    facts.write_many(FIGURE_5)
    wrong = []
    for asked, expected in (
        (("Willian Banik", None, None), [4]),
        ((None, "employed by", None), [3, 2, 1, 0]),
        ((None, None, "BMW"), [4, 3, 2]),
        (("Willian Banik", "customer of", None), [4]),
        (("Willian Banik", None, "BMW"), [4]),
        ((None, "employed by", "BMW"), [3, 2]),
        (("Willian Banik", "customer of", "BMW"), [4]),
        ((None, None, None), [4, 3, 2, 1, 0]),
        (("Willian Banik", "employed by", "BMW"), []),
    ):
        found = facts.read(*asked, match="exact")
        is_exact = {(fact.match, fact.score) for fact in found} <= {("exact", 1.0)}
        if triplets(found) != [FIGURE_5[i] for i in expected] or not is_exact:
            wrong.append((asked, found))
    assert wrong == []


# What a fact says.


def test_a_fact_names_its_update(facts: FactMemory) -> None:
    said = year(2023)
    written = facts.write("Ada", "employed by", "BMW", said=said, source="cv", properties={"a": 1})
    [read] = facts.read("ada", "EMPLOYED_BY", "bmw")
    assert read == written
    assert (read.t_index, read.said, read.source, read.properties) == (1, said, "cv", {"a": 1})
    assert (read.match, read.score, read.matched, read.statement) == ("exact", 1.0, {}, None)
    assert read.line == "Ada — employed by → BMW"
    assert read.passage is not None
    passage = facts.memory.get(read.passage)
    assert passage is not None
    assert passage.text == ""


def test_values_are_terms(facts: FactMemory) -> None:
    for value, text in (
        (52000.0, "52000"),
        (1.5, "1.5"),
        (True, "true"),
        (date(2024, 5, 1), "2024-05-01"),
        (datetime(2024, 5, 1, 10, 30, tzinfo=UTC), "2024-05-01T10:30:00+00:00"),
    ):
        facts.write("Ada", "has seen", value)
        [fact] = facts.read(None, "has seen", value)
        assert (fact.object, fact.value) == (text, value)
        assert triplets(facts.read(object=text)) == [("Ada", "has seen", text)]
        [entity] = facts.memory.graph.entities([text])
        assert entity.concept == ""
    facts.write("Ada", "salary", "52,000 USD")
    [fact] = facts.read("Ada", "salary")
    assert (fact.object, fact.value) == ("52,000 USD", 52000)


def test_codes_and_accents_are_read_in_any_spelling(facts: FactMemory) -> None:
    facts.write("POL-358", "teacher", "José Peña")
    for subject in ("POL-358", "POL 358", "pol358"):
        assert triplets(facts.read(subject)) == [("POL-358", "teacher", "José Peña")], subject
    for teacher in ("José Peña", "Jose Pena"):
        assert len(facts.read(None, "teacher", teacher)) == 1, teacher


def test_facts_of_other_writers(facts: FactMemory) -> None:
    facts.memory.graph.upsert(
        [NewEntity(id="e1", label="Ada Lovelace"), NewEntity(id="e2", label="BMW")],
        [NewTriplet(subject="e1", predicate="WORKS_FOR", object="e2")],
    )
    [fact] = facts.read("ada lovelace", "employed by")
    assert triplets([fact]) == [("Ada Lovelace", "WORKS_FOR", "BMW")]
    assert (fact.passage, fact.said) == (None, None)
    assert triplets(facts.read(object="e2")) == triplets([fact])


def test_facts_that_texts_state(memory: RecallM) -> None:
    stating = RecallM(memory._opened.store, namespace=memory.namespace, triplets=True)
    update = stating.update("Maria works for Siemens.")
    facts = FactMemory(stating)
    [fact] = facts.read("Maria", "employed by")
    assert triplets([fact]) == [("Maria", "work for", "Siemens")]
    assert (fact.passage, fact.statement) == (update.id, f"{update.id}#0")
    stating.update("Maria does not work for Siemens.")
    assert facts.read("Maria", "employed by") == []
    stating.update("Maria works for Bosch.")
    assert triplets(facts.read("Maria", "employed by")) == [("Maria", "work for", "Bosch")]


# Facts that change.


def test_a_single_valued_relation(facts: FactMemory) -> None:
    for place in ("Oslo", "Porto", "Oslo"):
        facts.write("Ada", "lives in", place)
    assert [fact.object for fact in facts.read("Ada", "lives in")] == ["Oslo"]
    assert [fact.object for fact in facts.read("Ada", "resides in", as_of=2)] == ["Porto"]
    assert triplets(facts.read(object="Porto")) == []
    assert [
        (fact.object, fact.since_t, fact.until_t, fact.ended_by)
        for fact in facts.changes("Ada", "lives in")
    ] == [
        ("Oslo", 1, 2, "superseded"),
        ("Porto", 2, 3, "superseded"),
        ("Oslo", 3, None, None),
    ]


def test_a_repeated_fact_goes_on(facts: FactMemory) -> None:
    facts.write("Ada", "lives in", "Oslo", source="a")
    facts.write("Ada", "lives in", "Oslo", source="b")
    [fact] = facts.read("Ada", "lives in")
    assert (fact.t_index, fact.source) == (2, "b")
    [change] = facts.changes("Ada", "lives in")
    assert (change.since_t, change.until_t) == (1, None)


def test_which_values_stay(facts: FactMemory) -> None:
    facts.write_many([("Ada", "speaks", "Dutch"), ("Ada", "speaks", "Thai")])
    assert [fact.object for fact in facts.read("Ada", "speaks")] == ["Thai", "Dutch"]
    facts.write_many([("Ada", "waters the plants of", x) for x in ("Bo", "Cy")])
    assert [fact.object for fact in facts.read("Ada", "waters the plants of")] == ["Cy", "Bo"]
    facts.write("Ada", "works for", "Cisco")
    facts.write("ada", "is employed by", "BMW")
    assert triplets(facts.read("Ada", "WORKS_FOR")) == [("ada", "is employed by", "BMW")]
    assert facts.read(None, "works for", "Cisco") == []


def test_declared_relations(facts: FactMemory) -> None:
    declared = FactMemory(
        facts.memory,
        single_valued={"guards": "object", "waters": "subject"},
        multi_valued=["employed by"],
    )
    facts.write_many(
        [
            ("Ada", "guards", "Gate"),
            ("Bo", "guards", "Gate"),
            ("Bo", "guards", "Wall"),
            ("Ada", "waters", "Fern"),
            ("Ada", "waters", "Rose"),
            ("Ada", "works for", "Cisco"),
            ("Ada", "works for", "BMW"),
        ]
    )
    assert [fact.subject for fact in declared.read(None, "guards", "Gate")] == ["Bo"]
    assert [fact.object for fact in declared.read("Bo", "guards")] == ["Wall", "Gate"]
    assert [fact.object for fact in declared.read("Ada", "waters")] == ["Rose"]
    assert [fact.object for fact in declared.read("Ada", "works for")] == ["BMW", "Cisco"]
    assert [fact.object for fact in facts.read("Ada", "waters")] == ["Rose", "Fern"]
    bare = FactMemory(facts.memory, single_valued=["guards", "capital of"])
    assert [fact.object for fact in bare.read("Bo", "guards")] == ["Wall"]
    assert triplets(bare.read(None, "guards", "Gate")) == [("Ada", "guards", "Gate")]


def test_objects_of_one_update_do_not_supersede_each_other(facts: FactMemory) -> None:
    facts.memory.graph.upsert(
        [NewEntity(id=name) for name in ("Ada", "Cisco", "BMW")],
        [
            NewTriplet(subject="Ada", predicate="works for", object=employer)
            for employer in ("Cisco", "BMW")
        ],
    )
    assert [fact.object for fact in facts.read("Ada", "works for")] == ["BMW", "Cisco"]
    facts.write("Ada", "works for", "Cisco")
    assert [fact.object for fact in facts.read("Ada", "works for")] == ["Cisco"]


def test_order_is_that_of_what_was_said(facts: FactMemory) -> None:
    facts.write("Ada", "lives in", "Porto", said=year(2024))
    facts.write("Ada", "lives in", "Oslo", said=year(2020))
    assert [fact.object for fact in facts.read("Ada", "lives in")] == ["Porto"]
    assert [fact.object for fact in facts.read("Ada", "lives in", as_of=year(2021))] == ["Oslo"]
    assert [(fact.object, fact.since) for fact in facts.changes("Ada", "lives in")] == [
        ("Oslo", year(2020)),
        ("Porto", year(2024)),
    ]
    # Without all timestamps t decides.
    facts.write("Ada", "lives in", "Rome")
    facts.write("Ada", "lives in", "Bonn", said=year(2019))
    assert [fact.object for fact in facts.read("Ada", "lives in")] == ["Bonn"]


def test_denials(facts: FactMemory) -> None:
    facts.write("Ada", "employed by", "Cisco")
    facts.write("Ada", "no longer works for", "Cisco")
    facts.write("Ada", "doesn't speak", "Dutch")
    assert facts.read("Ada") == []
    assert facts.read("Ada", "employed by", match="similar") == []
    assert triplets(facts.read("Ada", "not employed by")) == [
        ("Ada", "no longer works for", "Cisco")
    ]
    assert triplets(facts.read(None, "never speaks", "Dutch")) == [
        ("Ada", "doesn't speak", "Dutch")
    ]
    [change] = facts.changes("Ada", "works for")
    assert (change.object, change.until_t, change.ended_by) == ("Cisco", 2, "ended")
    assert facts.changes("Ada", "speaks") == []
    facts.write("Ada", "works for", "Cisco")
    assert facts.read("Ada", "not employed by") == []


def test_end(facts: FactMemory) -> None:
    facts.write("Ada", "speaks", "Dutch")
    facts.write("Ada", "SPEAKS", "Thai")
    facts.write("Bo", "speaks", "Thai")
    assert triplets(facts.end("ada", "is fluent in", "Thai")) == [("Ada", "SPEAKS", "Thai")]
    assert triplets(facts.read("Ada")) == [("Ada", "speaks", "Dutch")]
    assert facts.end("Ada", "speaks", "Thai") == []
    assert triplets(facts.end("Ada", "speaks", source="s")) == [("Ada", "speaks", "Dutch")]
    assert facts.end("Ada", "speaks") == []
    assert triplets(facts.read()) == [("Bo", "speaks", "Thai")]
    facts.memory.forget(source="s")
    assert triplets(facts.read("Ada")) == [("Ada", "speaks", "Dutch")]
    with pytest.raises(InvalidInputError, match="denied"):
        facts.end("Ada", "not speaks")


def test_a_denial_may_come_before_the_fact_that_it_ends(facts: FactMemory) -> None:
    assert facts.end("Ada", "works for", "Cisco", said=year(2024)) == []
    facts.write("Ada", "works for", "Cisco", said=year(2020))
    assert facts.read("Ada", "works for") == []
    assert triplets(facts.read("Ada", as_of=year(2021))) == [("Ada", "works for", "Cisco")]


def test_facts_on_neo4j(neo4j_server: RunningServer) -> None:
    with RecallM(neo4j_server.uri, auth=neo4j_server.auth, namespace=uuid4().hex) as memory:
        facts = FactMemory(memory)
        facts.write_many(FIGURE_5)
        first = facts.write("Ada", "works for", "BMW", said=year(2020))
        facts.write("Ada", "employed by", "Pfizer Inc.", said=year(2024))
        assert triplets(facts.read("Ada")) == [("Ada", "employed by", "Pfizer Inc.")]
        assert triplets(facts.read("Ada", as_of=year(2021))) == [("Ada", "works for", "BMW")]
        assert facts.read(object="pfizer")[0].match == "similar"
        assert facts.count(relation="works for", object="BMW") == 2
        assert facts.load([{"name": "BMW", "based in": "Munich"}], key="name", name="t").added == 1
        assert triplets(facts.end("Ada", "works for")) == [("Ada", "employed by", "Pfizer Inc.")]
        memory.forget(id=first.passage)
        assert [fact.object for fact in facts.changes("Ada", "works for")] == ["Pfizer Inc."]
        memory.forget(everything=True)


# Forgetting and isolation.


def test_what_is_forgotten_no_longer_supersedes(facts: FactMemory) -> None:
    facts.write("Ada", "lives in", "Oslo", source="old")
    facts.write("Ada", "lives in", "Porto", id="new")
    facts.memory.forget(id="new")
    assert [fact.object for fact in facts.read("Ada", "lives in")] == ["Oslo"]
    facts.write("Ada", "lives in", "Rome", source="newer")
    facts.memory.forget(source="newer")
    assert [fact.object for fact in facts.read("Ada", "lives in")] == ["Oslo"]
    facts.write("Ada", "lives in", "Bonn")
    facts.memory.graph.delete(triplets=[("Ada", "lives in", "Bonn")])
    assert [fact.object for fact in facts.read("Ada", "lives in")] == ["Oslo"]
    facts.write("Ada", "lives in", "Lima")
    facts.memory.forget(concept="Lima")
    assert [fact.object for fact in facts.read("Ada", "lives in")] == ["Oslo"]
    facts.memory.forget(source="old")
    assert facts.read() == []
    assert facts.changes("Ada", "lives in") == []


def test_an_id_belongs_to_one_fact(facts: FactMemory) -> None:
    first = facts.write("Ada", "speaks", "Thai", id="x")
    assert facts.write("Ada", "speaks", "Thai", id="x") == first
    with pytest.raises(ConflictError):
        facts.write("Ada", "speaks", "Dutch", id="x")
    assert triplets(facts.read()) == [("Ada", "speaks", "Thai")]


# Limits.


def test_a_limited_read_is_the_beginning_of_the_whole(facts: FactMemory) -> None:
    for relation in ("works for", "speaks", "waters the plants of"):
        own = facts.in_namespace(f"{facts.memory.namespace} {relation}")
        own.write_many(
            (f"P{i % 40}", relation, "Hub" if i % 3 else f"C{i % 7}") for i in range(150)
        )
        own.write_many([(f"P{i}", f"not {relation}", "Hub") for i in range(30, 40)])
        every = own.read(None, relation, "Hub")
        assert every
        for limit in (1, 5, 19, 100):
            assert own.read(None, relation, "Hub", limit=limit) == every[:limit]
            assert own.read(limit=limit) == own.read()[:limit]


# Many facts at once, and bad ones.


def test_facts_of_every_shape(facts: FactMemory) -> None:
    given: list[Any] = [
        NewFact("Ada", "speaks", "Thai", source="a"),
        ("Ada", "speaks", "Dutch"),
        ["Ada", "speaks", "Urdu"],
    ]
    assert facts.write_many(given, batch_size=2) == 3
    assert {(fact.object, fact.source, fact.said) for fact in facts.read("Ada", "speaks")} == {
        ("Thai", "a", None),
        ("Dutch", None, None),
        ("Urdu", None, None),
    }


BAD_FACTS: list[Any] = [
    "Ada", ("Ada", "speaks"), {"subject": "Ada", "relation": "speaks"},
    {"subject": "Ada", "relation": "speaks", "object": "x"}, ("Ada", "speaks", " \n"),
    ("Ada", "speaks", None), ("Ada", "speaks", float("nan")), ("Ada", "speaks", b"Thai"),
    ("A" * 1025, "speaks", "Thai"), ("\ud800", "speaks", "Thai"),
]  # fmt: skip


def test_a_bad_fact_writes_nothing_of_its_batch(facts: FactMemory) -> None:
    for number, bad in enumerate(BAD_FACTS):
        own = facts.in_namespace(f"{facts.memory.namespace} {number}")
        good = [("Ada", "speaks", f"Language {i}") for i in range(3)]
        with pytest.raises(InvalidInputError) as error:
            own.write_many([*good, bad], batch_size=2)
        assert error.value.index == 3
        assert [fact.object for fact in own.read()] == ["Language 1", "Language 0"], bad


HOSTILE = [
    "a>>b", "]", "[MEM_WRITE{a>>b>>c}]", "\u202eevil", "\u200f", "line\nbreak", "nul\x00nul", "…",
    ">>", "'", '"', "%_", "→", "Ada — x → y", "N/A", "1e400", "٣", "a" * 1000,
]  # fmt: skip


def test_any_text_is_a_term(facts: FactMemory) -> None:
    for number, text in enumerate(HOSTILE):
        own = facts.in_namespace(f"{facts.memory.namespace} {number}")
        own.write(text, "likes", "Thai")
        own.write("Ada", "likes", text)
        assert triplets(own.read(text)) == [(text, "likes", "Thai")]
        assert triplets(own.read(None, "likes", text)) == [("Ada", "likes", text)]
        assert all(len(fact.line.splitlines()) == 1 for fact in own.read())
        own.write("Bo", text, "Thai")
        assert ("Bo", text, "Thai") in triplets(own.read("Bo", text, "Thai")), text


def test_bad_terms_are_refused(facts: FactMemory) -> None:
    for bad in ("", "  ", "\n", "a" * 1025, "\ud800", 1j, ["Ada"], b"Ada", 10**2000):
        for place, name in enumerate(("subject", "relation", "object")):
            terms: list[Any] = ["Ada", "likes", "Thai"]
            terms[place] = bad
            for call in (facts.write, facts.read, facts.end):
                with pytest.raises(InvalidInputError) as error:
                    call(*terms)
                assert error.value.argument == name
    assert facts.read() == []


def test_bad_arguments(facts: FactMemory) -> None:
    for argument, call in (
        ("memory", lambda: FactMemory(facts.memory.graph)),  # type: ignore[arg-type]
        ("single_valued", lambda: FactMemory(facts.memory, single_valued={"likes": "both"})),
        ("single_valued", lambda: FactMemory(facts.memory, single_valued="likes")),
        ("multi_valued", lambda: FactMemory(facts.memory, multi_valued=[""])),
        ("match", lambda: facts.read(match="fuzzy")),  # type: ignore[arg-type]
        ("limit", lambda: facts.read(limit=0)),
        ("as_of", lambda: facts.read(as_of=datetime(2020, 1, 1))),  # noqa: DTZ001
        ("said", lambda: facts.write("a", "b", "c", said="today")),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidInputError) as error:
            call()
        assert error.value.argument == argument
