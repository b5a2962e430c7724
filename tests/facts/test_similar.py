"""Terms that are similar to stored ones; the pairs stand in similar.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest

from recallm import RecallM
from recallm.facts import FactMemory
from recallm.recall.predicates.similarity import name_similarity
from recallm.vectors import Embedding


class Case(TypedDict):
    """A term that is asked for, those that are stored, and which of them is meant."""

    asked: str
    stored: list[str]
    meant: str


CASES: dict[str, list[Case]] = tomllib.loads(
    Path(__file__).with_name("similar.toml").read_text(encoding="utf-8")
)


def answers(facts: FactMemory, kind: str) -> tuple[int, int]:
    """How many questions found another term than the one that is meant, and how many none."""
    wrong = missed = 0
    if kind == "predicates":
        facts.write_many(
            (f"Subject {i}", stored, f"object {i} of {j}")
            for i, case in enumerate(CASES[kind])
            for j, stored in enumerate(case["stored"])
        )
    for i, case in enumerate(CASES[kind]):
        if kind == "predicates":
            found = {fact.relation for fact in facts.read(f"Subject {i}", case["asked"])}
        else:
            own = facts.in_namespace(f"names {i}")
            own.write_many((stored, "likes", "Thai") for stored in case["stored"])
            found = {fact.subject for fact in own.read(case["asked"])}
        wrong += not found <= {case["meant"]}
        missed += not found and bool(case["meant"])
    return wrong, missed


def test_words_alone_find_most_relations(facts: FactMemory) -> None:
    wrong, missed = answers(facts, "predicates")
    assert wrong <= 1
    assert missed <= 4


@pytest.mark.slow
def test_embeddings_find_most_relations() -> None:
    wrong, missed = answers(FactMemory(RecallM(embeddings="default")), "predicates")
    assert wrong <= 3
    assert missed <= 4


def test_names(facts: FactMemory) -> None:
    wrong, missed = answers(facts, "names")
    assert wrong == 0
    assert missed <= 2


def test_an_answer_says_what_was_matched(facts: FactMemory) -> None:
    facts.write("Ada Lovelace", "waters the plants of", "Pfizer Inc.")
    [fact] = facts.read("Lovelace, Ada", "watering plants for", "pfizer")
    assert (fact.subject, fact.object) == ("Ada Lovelace", "Pfizer Inc.")
    assert fact.match == "similar"
    assert fact.matched["subject"] == ("Lovelace, Ada", "Ada Lovelace", 0.95)
    assert fact.matched["object"] == ("pfizer", "Pfizer Inc.", 1.0)
    asked, found, score = fact.matched["relation"]
    assert (asked, found) == ("watering plants for", "waters the plants of")
    assert 0.45 <= score <= 1
    assert fact.score == min(score, 0.95)
    assert facts.read("Lovelace, Ada", "watering plants for", "pfizer", match="exact") == []


def test_exact_terms_come_first(facts: FactMemory) -> None:
    facts.write("Ada", "waters the plants of", "Bo")
    facts.write("Ada", "watering plants for", "Cy")
    [fact] = facts.read("Ada", "watering plants for")
    assert (fact.object, fact.match) == ("Cy", "exact")
    # What ended is known: nothing similar answers for it.
    facts.end("Ada", "watering plants for")
    assert facts.read("Ada", "watering plants for") == []


def test_similar_relations_end_and_are_denied(facts: FactMemory) -> None:
    facts.write("Ada", "waters the plants of", "Bo")
    assert [fact.object for fact in facts.read("Ada", "watering plants for")] == ["Bo"]
    facts.write("Ada", "no longer waters the plants of", "Bo")
    assert facts.read("Ada", "watering plants for") == []
    [denial] = facts.read("Ada", "doesn't do watering plants for")
    assert denial.relation == "no longer waters the plants of"


def test_relations_without_an_entity(facts: FactMemory) -> None:
    facts.write("Ada", "waters the plants of", "Bo")
    assert [fact.subject for fact in facts.read(None, "watering plants")] == ["Ada"]
    assert facts.read(None, "repairs the roof") == []
    assert facts.read("Nobody", "waters the plants of") == []
    assert facts.read("Nobody") == []


def test_ambiguous_names_find_nobody(facts: FactMemory) -> None:
    facts.write("John Smith", "likes", "Thai")
    assert [fact.subject for fact in facts.read("J. Smith")] == ["John Smith"]
    facts.write("James Smith", "likes", "Thai")
    assert facts.read("J. Smith") == []


def test_values_are_not_similar(facts: FactMemory) -> None:
    facts.write("Ada", "salary", 52000)
    assert facts.read("Ada", "salary", 52001) == []
    assert facts.read(None, None, 520) == []


def test_horizons_hold_for_similar_terms(facts: FactMemory) -> None:
    for relation in ("employed by", "waters the plants of"):
        own = facts.in_namespace(f"{facts.memory.namespace} {relation}")
        own.write("Ada Lovelace", relation, "Bo")
        own.write("Cy", "likes", "Ada")
        assert own.read("Lovelace, Ada", relation, as_of=0) == []
        assert len(own.read("Lovelace, Ada", relation, as_of=1)) == 1


def synonyms(texts: list[str]) -> list[list[float]]:
    """Vectors by which the words of one line mean the same."""
    meanings = [("nyc", "new york city"), ("holland", "netherlands"), ("bo",)]
    rows = []
    for text in texts:
        row = [float(text.casefold() in words) for words in meanings]
        noise = np.random.default_rng(len(text)).normal(size=61) * 0.02
        rows.append([*row, *(noise if any(row) else np.eye(61)[len(text) % 61])])
    return rows


def test_names_without_a_common_word_are_found_by_their_vectors(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with RecallM(path, embeddings=Embedding(name="synonyms", embed=synonyms)) as memory:
        facts = FactMemory(memory.in_namespace("synonyms"))
        facts.write("NYC", "likes", "Bo")
        facts.write("Netherlands", "likes", "Bo")
        [fact] = facts.read("New York City")
        assert fact.subject == "NYC"
        assert 0.8 <= fact.score <= 1
        assert [fact.subject for fact in facts.read("Holland")] == ["Netherlands"]
        assert facts.read("Somewhere") == []
        # A memory without the model, and one with another, read by words.
        for embeddings in (None, Embedding(name="x", embed=synonyms)):
            with RecallM(path, embeddings=embeddings) as other:
                assert FactMemory(other.in_namespace("synonyms")).read("Holland") == []


def test_name_similarity() -> None:
    for asked, stored, alike in (
        ("pfizer inc", "pfizer", True),
        ("inc", "inc", True),
        ("the compani", "compani", True),
        ("mr", "mrs", False),
        ("citi", "kansa citi", False),
        ("a b", "a c b", True),
        ("", "ada", False),
        ("room 4", "room 4 b", False),
    ):
        assert (name_similarity(asked, stored) > 0) == alike, (asked, stored)
        assert name_similarity(asked, stored) == name_similarity(stored, asked)
