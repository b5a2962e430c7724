"""Determines all that matches a question for every answer (``recallm.recall.ranking.matches``).

* Facts match exactly: the pattern that the question asks for (``FactReader.matching``).
* A statement matches if it mentions each name of the question (or stands for it by a pronoun, or
  has that speaker), holds each other content stem of the question or a related one, and is no
  question. "Which bands has Dave enjoyed?" is matched by what mentions Dave and holds a word like
  "band" and one like "enjoyed".

No statement matches a question without a content stem beside names. Nothing is determined for a
question that names a date.
"""

from __future__ import annotations

from collections.abc import Mapping

from recallm.model import Filter, Question, StoredStatement, Trait
from recallm.recall.ranking.budget import EqualSentences
from recallm.recall.ranking.concepts import NAME_KINDS, spelled
from recallm.recall.ranking.matches import Match, Matches
from recallm.recall.ranking.meaning import related_stems
from recallm.recall.retrieval.fact_candidates import FactPattern
from recallm.recall.retrieval.relations import RELATED_STEMS, essential_names
from recallm.stores.base import GraphReader

_READ = 1000
"""Matching statements that are read to find equal ones and names; further ones only count."""


def all_matches(
    reader: GraphReader,
    question: Question,
    where: Filter,
    pattern: FactPattern | None,
    keys: Mapping[tuple[str, str, str], int],
) -> Matches | None:
    """All that matches ``question``; None where nothing does. ``pattern`` holds the facts
    that match, ``keys`` are those of their candidates."""
    facts = [] if pattern is None else [
        Match(keys.get((each.subject, each.predicate, each.object)), answer, each.passage)
        for each, answer in pattern.matches
    ]  # fmt: skip
    found = _matching_statements(reader, question, where)
    if not facts and not found:
        return None
    shown_by_facts = {match.key for match in facts}
    statements = [match for match in found if match.key not in shown_by_facts]
    return Matches(
        facts=tuple(facts),
        statements=tuple(statements),
        pattern="" if pattern is None else pattern.line,
        counts=question.counts,
    )


def _matching_statements(reader: GraphReader, question: Question, where: Filter) -> list[Match]:
    """The statements that match, the newest first, one of equal sentences."""
    names = essential_names(question)
    in_names = {word for name in names for word in name.split()}
    stems = [
        term
        for term in question.search_terms
        if term not in in_names and term not in question.listing_terms
    ]
    number = reader.sizes().corpus.statements
    if not stems or not number:
        return []
    accepted = {
        stem: {stem, *(each for each, _ in related_stems(stem, RELATED_STEMS))} for stem in stems
    }
    postings = reader.postings(set().union(*accepted.values()), limit=number, where=where)
    holding = [
        set().union(*(postings[each].keys for each in stems if each in postings))
        for stems in accepted.values()
    ]
    common = set.intersection(*holding)
    if not common:
        return []
    mentions = reader.mentions(names, limit=None, where=where) if names else {}
    if len(mentions) < len(names):
        return []
    common.intersection_update(*(found.keys for found in mentions.values()))
    newest = sorted(common, reverse=True)
    equals = EqualSentences.asked_by(question.time)
    rows = reader.statements(newest[:_READ])
    answers = equals.distinct(row for row in reversed(rows) if Trait.QUESTION not in row.traits)
    return [
        *(
            Match(row.key, _answer(row, question), row.passage_id, sentence)
            for sentence, row in answers.items()
        ),
        *(Match(key, "", None) for key in newest[_READ:]),
    ]


def _answer(statement: StoredStatement, question: Question) -> str:
    """The first name that a statement spells beside those of the question; '' if it spells none."""
    asked = {concept.name for concept in question.concepts}
    return next(
        (
            mention.label
            for mention in spelled(statement)
            if mention.kind in NAME_KINDS and mention.name not in asked
        ),
        "",
    )
