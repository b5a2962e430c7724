"""Reads the statements that may answer a question: the candidates of the default ranking.

The postings of the question's stems and the mentions of its concepts are read up to a limit and
scored in arrays. Only the best are fetched as rows, with the statements before and after them.
Related words add their newest statements where few hold the question's own, neighbouring concepts
where facts stand alone; a question of nothing but dates adds the newest of these dates. Each
summary in force counts as one more statement, and so does each triplet that no statement shows
(``recallm.recall.retrieval.fact_candidates``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from operator import itemgetter

import numpy as np

from recallm.english.dating import asked_dates
from recallm.model import (
    NO_POSITION,
    ConceptMention,
    ConceptRow,
    Postings,
    Question,
    StoredStatement,
    Summary,
    TemporalAnchor,
    Trait,
    content_terms,
    empty_mapping,
    statement_key,
)
from recallm.recall.predicates.states import SOMEBODY, SPEAKER, stated_relations
from recallm.recall.ranking.budget import wanted_statements
from recallm.recall.ranking.candidates import Candidates, Leads, Rows
from recallm.recall.ranking.concepts import names_asked_for
from recallm.recall.ranking.matches import Match, Matches
from recallm.recall.ranking.stem_counts import PostingCounts, StatementStems
from recallm.recall.request import RecallRequest
from recallm.recall.retrieval.fact_candidates import NO_FACTS, FactReader, ReadFacts
from recallm.recall.retrieval.leads import read_leads
from recallm.recall.retrieval.nearest import EmbeddedQuestion, meets
from recallm.recall.retrieval.relations import RelationIndex
from recallm.stores.base import GraphReader

FETCHED, _OF_PRESENT, _FEWEST = 112, 88, 72
"""Statements fetched as rows, best by the first score; at least twice the statements wanted. Half
of 112 where the nearest by embedding come beside them. Without embeddings conversations need
fewer, and so do facts without any session, but for the history of a person or a thing."""

_HEADINGS, _ITEMS = 8, 12
"""Headings among the first 8 of them ("Some books:") bring 12 statements of their lists."""

_EXPANDED = 24
"""The first 24 of them bring the statements before and after them."""


def read_candidates(
    reader: GraphReader,
    question: Question,
    vector: EmbeddedQuestion | None,
    request: RecallRequest,
    relations: RelationIndex | None = None,
) -> Candidates | None:
    """The candidates for ``question``, enough for the budget of ``request``; None if the graph has
    none of the question's words and concepts, and no vector or related word leads to one.
    ``relations``: those of the namespace's triplets; None where it has no triplet."""
    wanted = wanted_statements(request)
    dates = asked_dates(question.text, request.asked_at)
    leads: Leads
    leads, (facts, matches) = reader.together(
        lambda reader: read_leads(reader, question, vector, request, dates),
        lambda reader: _read_facts(reader, question, request, relations, wanted),
    )
    brought = {*leads.similar, *leads.dated, *facts.stated}
    if not (leads.postings or leads.mentions or brought or leads.newest or facts.facts):
        return None
    brought.update(leads.of_neighbours)
    fetched = max(
        FETCHED if vector is not None else _without_embeddings(question, leads), 2 * wanted
    )
    posted = _posting_counts(question, leads)
    first = fetched if vector is None else fetched // 2
    best = posted.best(first + len(request.known), leads.sizes)
    rows = _read_rows(reader, leads, facts, best[:first], brought, fetched, request, best[first:])
    speakers, columns, when = _asked_for(question, posted.stems, rows.context.values())
    terms = tuple(posted.stems[column] for column in columns)
    asks_tokens = len(posted.stems) > len(question.search_terms)
    stems = StatementStems.of(
        [row.terms if asks_tokens else content_terms(row.terms) for row in rows.read]
    )
    keys = np.array([row.key for row in rows.read], dtype=np.int64)
    asks_present = question.time.order == "latest" and not question.time.previous
    return Candidates(
        **vars(rows),
        question=question,
        leads=leads,
        stems=stems.first(len(rows.statements)),
        facts={fact.statement.key: fact for fact in facts.facts},
        stated=facts.stated,
        states=states_of(rows.statements, names_asked_for(question)) if asks_present else {},
        vectors={} if vector is None else reader.vectors(rows.context.keys(), model=vector.model),
        terms=terms,
        documents=posted.documents[columns],
        stem_counts=posted.over_statements(columns, keys, stems.counts(terms)),
        session_counts=posted.over_sessions(columns),
        speakers=speakers,
        dates=dates,
        matches=None if dates else matches,
        question_vector=None if vector is None else vector.of_asked(when),
    )


def _without_embeddings(question: Question, leads: Leads) -> int:
    """How many statements are fetched for a question in a memory without embeddings."""
    time = question.time
    if leads.is_talk:
        return _FEWEST
    is_history = time.previous or time.anchor is not None or time.order == "earliest"
    if is_history or leads.sizes.sessions:
        return FETCHED
    return _OF_PRESENT if time.recency else _FEWEST


def _read_facts(
    reader: GraphReader,
    question: Question,
    request: RecallRequest,
    relations: RelationIndex | None,
    wanted: int,
) -> tuple[ReadFacts, Matches | None]:
    """The facts that may answer, and all that match a question for every answer."""
    if relations is None:
        return NO_FACTS, None
    fact_reader = FactReader(reader, question, request, relations)
    pattern = fact_reader.matching() if question.asks_all else None
    found = () if pattern is None else pattern.matches
    matching = [each for each, _ in found if each.passage not in request.known][:wanted]
    # Summaries of the question's concepts are candidates too, and have the first places.
    facts = fact_reader.candidates(matching, first_place=len(question.concepts))
    if pattern is None:
        return facts, None
    matches = tuple(
        Match(facts.keys.get((each.subject, each.predicate, each.object)), answer, each.passage)
        for each, answer in found
    )
    return facts, Matches(facts=matches, pattern=pattern.line, counts=question.counts)


def _read_rows(
    reader: GraphReader,
    leads: Leads,
    facts: ReadFacts,
    best: Sequence[int],
    brought: Collection[int],
    fetched: int,
    request: RecallRequest,
    behind: Sequence[int],
) -> Rows:
    """The rows of the ``best`` statements, of what else was ``brought``, and of what stands around
    the first of them; summaries and facts are rows too. Of the newest statements, which no word of
    the question leads to, those in the first person. Where known passages leave few others, also
    those of statements ``behind`` the best."""
    where = request.where
    all_may_answer = not where
    summaries = [
        row.summary
        for _, row in sorted(leads.essential.items(), key=itemgetter(0))
        if row.summary is not None and all_may_answer
    ]
    covered = [_newest_covered(each, leads.mentions.get(each.concept)) for each in summaries]
    newest = set(leads.newest).difference(best, brought)
    context = _read_context(reader, best, {*brought, *newest, *covered}, fetched)
    context |= _read_items(reader, [context[key] for key in best[:_HEADINGS] if key in context])
    known = request.known
    while behind and sum(row.passage_id not in known for row in context.values()) < fetched // 4:
        more, behind = reader.statements(behind[:fetched]), behind[fetched:]
        context.update((row.key, row) for row in more if row.passage_id not in known)
    rows = request.as_days(context[key] for key in sorted(context))
    context = {row.key: row for row in rows}

    def may_answer(row: StoredStatement) -> bool:
        if row.key in newest and Trait.FIRST_PERSON not in row.traits:
            return False
        return all_may_answer or meets(row, where)

    others = [] if all_may_answer and not newest else [r for r in rows if not may_answer(r)]
    statements = (
        *(filter(may_answer, rows) if others else rows),
        *(
            _as_statement(each, place, context.get(key), leads.essential[each.concept])
            for place, (each, key) in enumerate(zip(summaries, covered, strict=True))
        ),
        *request.as_days(fact.statement for fact in facts.facts),
    )
    return Rows(
        context=context,
        statements=statements,
        read=(*statements, *others),
        summaries={_summary_id(each): each for each in summaries},
    )


def _read_context(
    reader: GraphReader, best: Sequence[int], others: Collection[int], fetched: int
) -> dict[int, StoredStatement]:
    """The rows of ``best`` and ``others`` by key, and the rows around the first of ``best``, one
    step further each time, until there are ``fetched``."""
    first = best[:_EXPANDED]
    wanted = {*best, *others}
    ahead = _steps(fetched - len(wanted), len(first))
    rows: list[list[StoredStatement]] = reader.together(
        lambda reader: reader.statements(first, ahead=ahead),
        lambda reader: reader.statements(wanted.difference(first)),
    )
    known = {row.key: row for row in chain.from_iterable(rows)}
    context = {key: known[key] for key in sorted(wanted) if key in known}
    frontier = [context[key] for key in first if key in context]
    while frontier:
        beside = {
            key
            for row in frontier
            for key in (row.previous, row.next)
            if key is not None and key not in context
        }
        if unread := beside - known.keys():
            ahead = _steps(fetched - len(context), len(unread))
            known.update((row.key, row) for row in reader.statements(unread, ahead=ahead))
        frontier = [known[key] for key in sorted(beside) if key in known]
        context.update((row.key, row) for row in frontier)
        if len(context) >= fetched:
            break
    return context


def _read_items(reader: GraphReader, rows: Iterable[StoredStatement]) -> dict[int, StoredStatement]:
    """The rows that follow the headings among ``rows`` in their passages, by key."""
    keys = {row.key + step for row in rows if row.is_heading for step in range(1, _ITEMS + 1)}
    return {row.key: row for row in reader.statements(keys)} if keys else {}


def _steps(missing: int, places: int) -> int:
    """The fewest steps to both sides of ``places`` statements that can give ``missing`` more: each
    step gives at most two statements for each of them."""
    return max(1, -(-missing // (2 * places))) if places else 0


def states_of(
    statements: Sequence[StoredStatement], names: Iterable[str]
) -> dict[int, set[tuple[str, str]]]:
    """By the places of statements: the relations of one value that they state ("lives in"), each
    with the one of the concepts' ``names`` whose bearer it may be stated of, or with the speaker
    who states it of himself."""
    asked = [(name, {*name.split(" ")}) for name in names] or [("", set[str]())]
    found: dict[int, set[tuple[str, str]]] = {}
    for place, row in enumerate(statements):
        for relation, subject in stated_relations(row.text):
            for name, words in asked:
                if (bearer := _bearer(row, subject, name, words)) is not None:
                    found.setdefault(place, set()).add((relation, bearer))
    return found


def _bearer(row: StoredStatement, subject: str, name: str, words: AbstractSet[str]) -> str | None:
    """Whom the ``subject`` of a stated relation may stand for: the bearer of ``name``, which has
    the ``words``, or the speaker; None where that is somebody else."""
    if subject == SPEAKER:
        speaker = row.speaker_concept or ""
        return speaker if words.isdisjoint(speaker.split(" ")) else name
    is_meant = subject == SOMEBODY or any(
        subject in mention.label.lower().split() and not words.isdisjoint(mention.name.split(" "))
        for mention in row.concepts
    )
    return name if is_meant else None


def _are_mostly_alone(rows: Collection[StoredStatement]) -> bool:
    """Whether most statements have no other beside them: facts, not turns of a conversation."""
    alone = sum(row.previous is None and row.next is None for row in rows)
    return 2 * alone > len(rows)


def _posting_counts(question: Question, leads: Leads) -> PostingCounts:
    """What postings and mentions say of the question's stems, and of its exact tokens that any
    statement holds."""
    stems = question.search_terms + tuple(
        token for token in question.tokens if token in leads.postings
    )
    speakers = _likely_speaker_stems(leads.mentions, leads.postings)
    counts = PostingCounts.read(stems, leads.postings, leads.mentions, speaker_stems=speakers)
    return counts.with_rarer(question.exact_terms, leads.sizes.corpus.statements)


def _likely_speaker_stems(
    mentions: Mapping[str, Postings], postings: Mapping[str, Postings]
) -> set[str]:
    """The stems of concepts that more statements mention than could spell them: a statement
    mentions its speaker without a word."""
    return {
        word
        for name, found in mentions.items()
        if found.statements
        > sum(postings[word].statements for word in name.split(" ") if word in postings)
        for word in name.split(" ")
    }


def _asked_for(
    question: Question, stems: Sequence[str], rows: Collection[StoredStatement]
) -> tuple[frozenset[str], list[int], TemporalAnchor | None]:
    """What is asked for, now that the speakers of ``rows`` are known: which of the question's
    concepts are speakers', which places of ``stems`` are neither theirs nor of what only says when,
    and what only says when."""
    speakers = _named_speakers(question, rows)
    not_asked = {word for name in speakers for word in name.split(" ")}
    when = question.when
    if when is not None and not _are_mostly_alone(rows):
        when = None
    if when is not None:
        not_asked.update(when.terms)
    columns = [column for column, term in enumerate(stems) if term not in not_asked]
    return speakers, columns, when


def _named_speakers(question: Question, rows: Iterable[StoredStatement]) -> frozenset[str]:
    """Of the question's concepts, those that are a speaker's, or a part of a speaker's name."""
    speakers = {row.speaker_concept for row in rows if row.speaker_concept is not None}
    speakers |= {word for name in speakers for word in name.split(" ")}
    return frozenset(each.name for each in question.concepts if each.name in speakers)


def _newest_covered(summary: Summary, found: Postings | None) -> int:
    """The key of the newest statement that a summary covers; -1 where none was read."""
    end = statement_key(summary.t_index, NO_POSITION)
    return next((key for key in found.keys.tolist() if key <= end), -1) if found else -1


def _summary_id(summary: Summary) -> str:
    return f"summary:{summary.concept}"


def _as_statement(
    summary: Summary,
    place: int,
    newest: StoredStatement | None,
    concept: ConceptRow,
) -> StoredStatement:
    """A summary as one more statement, said when the newest statement that it covers was said. No
    statement has its position; ``place`` tells apart the summaries of one t."""
    return StoredStatement(
        key=statement_key(summary.t_index, NO_POSITION - place),
        passage_id=_summary_id(summary),
        text=summary.text,
        timestamp=newest.timestamp if newest is not None else None,
        speaker=None,
        speaker_concept=None,
        source=None,
        session=None,
        session_key=None,
        metadata=empty_mapping(),
        terms=summary.terms,
        concepts=(ConceptMention(name=concept.name, label=concept.label, kind=concept.kind),),
        traits=summary.traits,
        previous=None,
        next=None,
    )
