"""The settings of recallm: each default stands here once, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, TypeAlias

from recallm.ground import checks
from recallm.model import LARGEST_NUMBER

__all__ = ["ConceptChoice", "RankingName", "RecallConfig", "RevisionName"]

ConceptChoice: TypeAlias = Literal["all", "nouns", "names"]
"""Which words and phrases are concepts."""

RevisionName: TypeAlias = Literal["llm", "symbolic"]
"""How the contexts of concepts are revised."""

RankingName: TypeAlias = Literal["statements", "paper", "ement", "vectors"]
"""The names of the rankings; ``recallm.recall.recalling.RANKINGS`` says how each recalls."""


def _file(value: object, argument: str) -> str:
    checks.file_path(value, argument)
    return checks.string(value, argument)


def _pipeline(value: object, argument: str) -> str:
    return _file(checks.name(value, argument), argument)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallConfig:
    """How a memory extracts, recalls and revises.

    Raises:
        InvalidInputError: a value is out of its range.
    """

    spacy_model: Annotated[str | None, _pipeline] = None
    """An installed spaCy pipeline to use in place of the shipped one."""

    distance: Annotated[int, checks.positive] = 1
    """Concepts at most this far apart in textual order are neighbours (paper: 1)."""

    concepts: ConceptChoice = "all"
    """What are concepts. "all": nouns, names, dates and codes, and names of several words both as a
    whole and by their parts ("Hong Kong", "Hong", "Kong"). "nouns": the same, names as a whole
    alone ("Hong Kong"). Bare quantities ("four", "a lot") are none. "names": names alone, as
    a whole, as in the authors' first version (paper, Changes to the Architecture).
    With these two, as there, pronouns mention nobody. What is stored stays as it was extracted:
    open a memory with the same value each time, or questions look for other concepts than its
    updates stored."""

    trim_concepts: Annotated[int | None, partial(checks.whole, least=2, most=LARGEST_NUMBER)] = None
    """The authors' trimming: in a sentence with more than this many distinct concepts (authors: 3),
    only the first name and the concepts just before and after it count; in a sentence without a
    name, the middle three. None: off."""

    ranking: RankingName = "statements"
    """The ranking of ``recall``: "statements" (the default), "paper" (the RecallM paper), "ement"
    (EMENT: statements about the question's entities, and the nearest by embedding), "vectors" (the
    nearest by embedding alone). The last two need embeddings."""

    neighbours: Annotated[int, checks.positive] = 10
    """k of EMENT: the nearest statements by embedding (EMENT: 3, 5, 10; best: 10)."""

    weights: Annotated[str | None, _file] = None
    """A file with weights for the default ranking, as ``training/ranking`` writes it. None: the
    weights in the package."""

    limit: Annotated[int, checks.positive] = 10
    """Statements that "statements" recalls at most if no limit is given."""

    fill: Annotated[bool, checks.flag] = False
    """Whether "statements" hands over as many statements as the limit or the tokens allow. False:
    only those that earn their place (``recallm.recall.ranking.choosing``), none where the memory
    most likely knows no answer."""

    hops: Annotated[int, checks.positive] = 2
    """λ of the paper."""

    temporal_window: Annotated[int, partial(checks.whole, least=0, most=LARGEST_NUMBER)] = 15
    """s, as in the authors' query."""

    temporal_weight: Annotated[float, checks.amount] = 3.0
    """α of the paper."""

    max_concepts: Annotated[int, checks.positive] = 10
    """Contexts that "paper" recalls (paper: 10)."""

    max_nodes: Annotated[int, checks.positive] = 800
    """Nodes of the paper's subgraph for one essential concept (the authors' query: 800)."""

    revision: RevisionName = "llm"
    """How the contexts of concepts in ``ranking="paper"`` are kept short. "llm": as in the paper,
    the memory's language model revises them, if it has one. "symbolic": no model does; of equal
    statements a context shows the latest, and none whose facts were all replaced or ended by later
    ones, where the memory has them (``RecallM(triplets=True)``). This is found at each recall:
    nothing is stored, a view of the past shows what held then, and what was replaced comes back
    where its successor is forgotten."""

    revise_every: Annotated[int, checks.positive] = 3
    """n: a concept's context is revised after this many merges (authors: 3)."""

    revision_characters: Annotated[int, checks.positive] = 12_000
    """Characters of a context in one revision prompt; a longer context is revised in parts."""

    candidate_limit: Annotated[int, checks.positive] = 1000
    """Statements that are read for one word of a question, newest first, and twice as many for one
    concept. It bounds the cost of what is frequent."""

    def __post_init__(self) -> None:
        checks.check_fields(self)
