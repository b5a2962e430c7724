"""Irregular forms: one term for all forms of a word, its concept named as it is spelt."""

from __future__ import annotations

import pytest

from recallm.config import RecallConfig
from recallm.extraction import Extractor
from recallm.extraction.irregular import NOUNS, VERBS
from recallm.extraction.stemming import stem

EXTRACTOR = Extractor(RecallConfig())


@pytest.mark.parametrize(
    ("told", "asked", "term"),
    [
        ("Brandon ate an apple.", "What did Brandon eat?", "eat"),
        ("Her uncle died in Rome.", "Where did her uncle die?", "die"),
        ("Maria went home.", "Where did Maria go?", "go"),
        ("Ingrid lives in Rome.", "Where does Ingrid live?", "live"),
        ("Three children sang.", "Which child did sing?", "child"),
    ],
)
def test_a_question_and_its_answer_have_the_term_in_common(
    told: str, asked: str, term: str
) -> None:
    statement = EXTRACTOR.extract(told).statements[0]
    assert term in statement.terms
    assert term in EXTRACTOR.question(asked).terms


def test_the_tag_decides() -> None:
    """Leaves of a tree are no departures."""
    assert "leaf" in EXTRACTOR.extract("The leaves of the tree are red.").statements[0].terms
    assert "leav" in EXTRACTOR.extract("He leaves tomorrow.").statements[0].terms


def test_concepts_keep_their_own_names() -> None:
    concepts = EXTRACTOR.extract("The children left.").statements[0].concepts
    assert [concept.name for concept in concepts] == [stem("children")]


@pytest.mark.parametrize("table", [VERBS, NOUNS])
def test_only_what_the_stemmer_keeps_apart_is_listed(table: dict[str, str]) -> None:
    assert not [form for form, base in table.items() if stem(form) == stem(base)]
