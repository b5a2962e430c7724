"""The input of the default ranking: a question and the statements that may answer it.

**Activation.** The strength of a relation alone favours hubs: a concept that is related to every
other is related to the question's too. So the strength is divided by the root of the product of the
two concepts' numbers of updates (a cosine): the share of their updates that touch both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from recallm.english.dating import AskedDate
from recallm.ground.forking import cached_property
from recallm.model import (
    ConceptRow,
    CorpusSize,
    Postings,
    Question,
    Relation,
    Sizes,
    StoredStatement,
    Summary,
)
from recallm.recall.ranking.matches import Matches
from recallm.recall.ranking.stem_counts import (
    Floats,
    Keys,
    StatementStems,
    StemCounts,
    t_indexes_of,
)
from recallm.recall.results import have_timestamps

TripletIds: TypeAlias = tuple[str, str, str]
"""The exact ids of a triplet: subject, predicate, object."""


def moments_of(statements: Sequence[StoredStatement]) -> Floats:
    """Each statement's time as a number: its timestamp if all have one, else its t_index."""
    if have_timestamps(statements):
        times = [row.timestamp.timestamp() for row in statements if row.timestamp is not None]
        return np.array(times)
    keys = np.array([row.key for row in statements], dtype=np.int64)
    return t_indexes_of(keys).astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """A concept next to an essential one: how strongly activated (0 to 1), and through which."""

    concept: ConceptRow
    through: str
    value: float


def activate(
    essential: Mapping[str, ConceptRow],
    relations: Iterable[Relation],
    neighbours: Iterable[ConceptRow],
) -> dict[str, Activation]:
    """The activation of each neighbour, through the essential concept that gives it most."""
    rows = {row.name: row for row in neighbours}
    found: dict[str, Activation] = {}
    for relation in relations:
        for source, target in ((relation.a, relation.b), (relation.b, relation.a)):
            if source not in essential or target in essential or target not in rows:
                continue
            together = relation.strength
            first, second = essential[source].updates, rows[target].updates
            value = together / math.sqrt(max(first, together) * max(second, together))
            known = found.get(target)
            if known is None or value > known.value:
                found[target] = Activation(concept=rows[target], through=source, value=value)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Leads:
    """What the words, the concepts, the dates and the vector of a question lead to: totals, and the
    keys of statements.

    ``postings`` are those of its stems, ``mentions`` those of its concepts. ``essential`` are its
    concepts that are known, ``activation`` says how strongly the concepts next to them are
    activated, ``of_neighbours`` are the keys of statements that mention the most activated ones.
    Both are empty where ``is_talk``: what holds the stems stands in conversations. ``newest`` are
    the keys for a question that says "I" where nobody knows who that is.
    """

    postings: Mapping[str, Postings]
    mentions: Mapping[str, Postings]
    sizes: Sizes
    is_talk: bool
    essential: Mapping[str, ConceptRow]
    activation: Mapping[str, Activation]
    of_neighbours: Sequence[int]
    similar: Sequence[int]
    dated: Sequence[int]
    newest: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFact:
    """A triplet that no statement shows, as one more ``statement``, whose text is its line.

    ``passage`` is the id of its passage, None where its update has none; ``path`` says how the
    graph led to it; ``ended_by`` is the key of the fact or statement that is true in its place,
    None while it holds.
    """

    statement: StoredStatement
    triplet: TripletIds
    passage: str | None
    path: tuple[str, ...]
    ended_by: int | None


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The statements that were read for a question.

    * ``statements``: the candidates, ascending by key, summaries and facts last.
    * ``context``: every statement that was read, by key, with the statements around the candidates.
    * ``read``: the candidates, then all others of ``context``.
    * ``summaries``: those among the candidates, by the passage id that stands for them.
    """

    statements: tuple[StoredStatement, ...]
    context: Mapping[int, StoredStatement]
    read: tuple[StoredStatement, ...]
    summaries: Mapping[str, Summary]

    @cached_property
    def previous_places(self) -> Keys:
        """For each of ``read`` the place in ``read`` of the statement before it; -1 if there is
        none or it was not read."""
        places = {row.key: place for place, row in enumerate(self.read)}
        found = (-1 if row.previous is None else places.get(row.previous, -1) for row in self.read)
        return np.fromiter(found, np.int64, len(self.read))

    @cached_property
    def names(self) -> list[frozenset[str]]:
        """For each of ``read`` the names of the concepts that it mentions."""
        return [frozenset([mention.name for mention in row.concepts]) for row in self.read]

    @cached_property
    def keys(self) -> Keys:
        """The key of each candidate."""
        return np.array([statement.key for statement in self.statements], dtype=np.int64)

    @cached_property
    def moments(self) -> Floats:
        """``moments_of`` the candidates."""
        return moments_of(self.statements)

    @cached_property
    def traits(self) -> Keys:
        """The traits of each candidate, as the bits of ``Trait``."""
        bits = [int(statement.traits) for statement in self.statements]
        return np.array(bits, dtype=np.int64)

    @cached_property
    def alone(self) -> Floats:
        """1 for each candidate that has no other statement in its session, else 0. A single fact is
        complete; a turn of a conversation is not."""
        surrounded = [(each.previous, each.next) != (None, None) for each in self.statements]
        return 1.0 - np.array(surrounded, dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class Candidates(Rows):
    """The candidates of a question, with all that the signals are measured on.

    Statements:

    * ``stems``: the stems of the candidates.
    * ``facts``: those among the candidates, by key. ``stated``: the lines of facts by the keys of
      the statements that they led to.
    * ``vectors``: the embeddings of ``context``, by key; empty without ``question_vector``.
    * ``states``: for a question about the present, by their places, the relations of one value that
      statements state, each with whom it is stated of.

    The question:

    * ``terms``: its stems without the names of speakers and, among standalone facts, without those
      that only say when ("when she lived in Oslo"). ``documents`` is the number of statements that
      hold each, ``stem_counts`` (by statement key) and ``session_counts`` (by session key) how
      often each holds them.
    * ``speakers``: which of its concepts are speakers'. ``dates``: those that it names.
    * ``matches``: all facts that match it, where it asks for every answer; None where none does.
    * ``question_vector``: its unit vector under the embedding model, without what ``terms`` leave
      out; None without embeddings.
    """

    question: Question
    leads: Leads
    stems: StatementStems
    facts: Mapping[int, GraphFact]
    stated: Mapping[int, str]
    vectors: Mapping[int, bytes]
    states: Mapping[int, AbstractSet[tuple[str, str]]]
    terms: tuple[str, ...]
    documents: Floats
    stem_counts: StemCounts
    session_counts: Mapping[str, Floats]
    speakers: frozenset[str]
    dates: tuple[AskedDate, ...]
    matches: Matches | None
    question_vector: Floats | None

    @property
    def corpus(self) -> CorpusSize:
        """The size of the namespace."""
        return self.leads.sizes.corpus
