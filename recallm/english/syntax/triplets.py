"""Open triplets: what a sentence states, as ⟨subject, predicate, object⟩ with its adjuncts.

``clauses`` reads the clauses of a sentence's tree, ``drafts`` and ``nouns`` what they and the noun
phrases state, as tokens. Here the drafts are written, and get their confidence and their concepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from recallm.english.syntax.clauses import read_clauses
from recallm.english.syntax.confidence import confidence
from recallm.english.syntax.drafts import Draft, of_clause, of_noun
from recallm.english.syntax.ends import ConceptAt, end_of
from recallm.english.syntax.facts_of_triplets import fact_drafts
from recallm.english.syntax.name_phrases import mend_names
from recallm.english.syntax.tree import SentenceTree
from recallm.model import Adjunct, ConceptMention, OpenTriplet

if TYPE_CHECKING:
    from recallm.english.pipeline import TaggedText

_MOST_COMBINED: Final = 60
"""Triplets of one clause whose subject and object are coordinations."""

_SHORT: Final = 14
"""Tokens of a sentence whose parse can be trusted."""

_NAME_PARTS: Final = frozenset(("flat", "compound", "nmod", "amod"))


def triplets_and_facts(
    tagged: TaggedText,
    span: tuple[int, int],
    *,
    position: int = 0,
    concept_at: ConceptAt = lambda _: None,
    only_facts: bool = False,
) -> tuple[list[OpenTriplet], list[OpenTriplet]]:
    """The open triplets of a sentence, in textual order of their clauses, and its facts: triplets
    as the graph keeps them (``recallm.english.syntax.facts_of_triplets``).

    ``tagged`` is a text with a parse, ``span`` the sentence's (first token, last + 1), ``position``
    that of its statement. ``concept_at`` takes a token's place in the text. A verb without an
    object gives a triplet whose object is empty. Nothing is read out of a text without a parse.
    ``only_facts``: there are no open triplets.
    """
    if tagged.tree is None or span[0] >= span[1]:
        return [], []
    tree = SentenceTree(tagged, tagged.tree, span)
    read = drafts(tree)
    facts: list[OpenTriplet] = []
    for draft in fact_drafts(tree, read):
        fact = written(tree, draft, len(read), position, concept_at)
        facts.append(
            replace(
                fact,
                confidence=max(fact.confidence, _least_confidence(tree, draft)),
                subject_concept=end_of(tree, draft.subject_head, fact.subject_concept, concept_at),
                object_concept=end_of(tree, draft.object_head, fact.object_concept, concept_at),
            )
        )
    return [] if only_facts else _open(tree, read, position, concept_at), facts


def _least_confidence(tree: SentenceTree, draft: Draft) -> float:
    """How sure a fact is at least, whatever the model of open triplets says: "Ada's sister Ingrid"
    says who Ingrid is."""
    if draft.construction == "possessor":
        return 0.9
    return 0.5 if len(tree) <= _SHORT else 0.0


def _open(
    tree: SentenceTree, read: Sequence[Draft], position: int, concept_at: ConceptAt
) -> list[OpenTriplet]:
    found: dict[tuple[str, str, str], OpenTriplet] = {}
    for draft in read:
        triplet = written(tree, draft, len(read), position, concept_at)
        found.setdefault((triplet.subject, triplet.predicate, triplet.object), triplet)
    return list(found.values())


def drafts(tree: SentenceTree) -> list[Draft]:
    """The triplets of a sentence, as tokens. Mistakes of the parser are mended in ``tree``."""
    mend_names(tree)
    found: list[Draft] = []
    for clause in read_clauses(tree):
        found += islice(of_clause(tree, clause), _MOST_COMBINED)
    for i in range(len(tree)):
        if tree.children[i]:
            found += of_noun(tree, i)
    return found


def written(
    tree: SentenceTree,
    draft: Draft,
    others: int,
    position: int = 0,
    concept_at: ConceptAt = lambda _: None,
) -> OpenTriplet:
    """A draft of a sentence with ``others`` drafts as a triplet."""
    return OpenTriplet(
        subject=tree.text(draft.subject),
        predicate=draft.words or tree.text(draft.predicate),
        object=tree.text(draft.object),
        relation=draft.relation,
        adjuncts=tuple(
            Adjunct(kind, tree.text(case).lower(), tree.text(tokens))
            for kind, case, tokens in draft.adjuncts
            if tokens
        ),
        negated=draft.negated,
        modality=draft.modality,
        confidence=confidence(tree, draft, others),
        position=position,
        subject_concept=_concept(tree, draft.subject_head, concept_at),
        object_concept=_concept(tree, draft.object_head, concept_at),
        object_value=draft.value,
    )


def _concept(tree: SentenceTree, head: int, concept_at: ConceptAt) -> ConceptMention | None:
    """The concept of a phrase's head, or of the words of its name."""
    if head < 0:
        return None
    concept = concept_at(tree.first + head)
    if concept is None:
        for i in reversed(tree.children[head]):
            if tree.bases[i] in _NAME_PARTS and (concept := concept_at(tree.first + i)):
                return concept
    return concept
