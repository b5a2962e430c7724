"""Every setting of recallm, each default once, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from recallm import checks
from recallm.errors import InvalidInputError

__all__ = ["RankingName", "RecallConfig"]

RankingName: TypeAlias = Literal["statements", "paper", "ement", "vectors"]

_MOST = 1 << 62
"""What stores count with has 63 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallConfig:
    """How a memory extracts, recalls and revises.

    Raises:
        InvalidInputError: a value is out of its range.
    """

    spacy_model: str | None = None
    """An installed spaCy pipeline to use in place of the shipped one."""

    distance: int = 1
    """How far apart in textual order concepts are still neighbours (paper: immediate ones)."""

    nouns_only: bool = False
    """Paper, Knowledge Update: nouns alone are concepts; no entities, no numbers."""

    trim_concepts: int | None = None
    """The authors' trimming: of a sentence with more than this many distinct concepts (they: 3),
    only the first name and the concepts just before and after it stay; where it holds no name,
    the middle three. None: off."""

    ranking: RankingName = "statements"
    """Which ranking ``recall`` uses: the default, the paper's, EMENT's (the statements of the
    question's entities, and the nearest by embedding), or the nearest by embedding alone. The last
    two need embeddings."""

    neighbours: int = 10
    """k of EMENT: the nearest statements by embedding (EMENT: 3, 5, 10; best: 10)."""

    weights: str | None = None
    """A file with other weights of the default ranking than those that ship, as
    ``training/ranking`` writes it."""

    limit: int = 10
    """Statements recalled where no limit is given (``"statements"``)."""

    hops: int = 2
    """λ of the paper."""

    temporal_window: int = 15
    """s, as in the authors' query."""

    temporal_weight: float = 3.0
    """α of the paper."""

    max_concepts: int = 10
    """Contexts in the prompt, with ``"paper"`` (paper: 10)."""

    max_nodes: int = 800
    """Nodes of the paper's subgraph for one essential concept (the authors' query: 800)."""

    revise_every: int = 3
    """n: a concept's context is revised after so many merges (3 in the authors' code)."""

    revision_characters: int = 12_000
    """What one revision prompt holds of a context; a longer one is folded in part by part."""

    candidate_limit: int = 1000
    """Newest statements looked at for one word or concept of a question: bounds hubs."""

    def __post_init__(self) -> None:
        for name in (
            "distance",
            "limit",
            "hops",
            "max_concepts",
            "max_nodes",
            "neighbours",
            "revise_every",
            "revision_characters",
            "candidate_limit",
        ):
            checks.whole(getattr(self, name), name, least=1, most=_MOST)
        checks.whole(self.temporal_window, "temporal_window", least=0, most=_MOST)
        checks.amount(self.temporal_weight, "temporal_weight")
        checks.flag(self.nouns_only, "nouns_only")
        if self.trim_concepts is not None:
            checks.whole(self.trim_concepts, "trim_concepts", least=2, most=_MOST)
        if self.spacy_model is not None:
            checks.name(self.spacy_model, "spacy_model")
            checks.file_path(self.spacy_model, "spacy_model")
        if self.weights is not None:
            checks.file_path(self.weights, "weights")
            checks.string(self.weights, "weights")
        ranking: object = self.ranking
        if ranking not in get_args(RankingName):
            raise InvalidInputError(
                "ranking must be 'statements', 'paper', 'ement' or 'vectors', "
                f"not {checks.shown(ranking)}",
                argument="ranking",
            )
