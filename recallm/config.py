"""Every setting of recallm, each default once, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recallm.errors import InvalidInputError

__all__ = ["RecallConfig"]


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

    ranking: Literal["statements", "paper", "ement", "vectors"] = "statements"
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
            _at_least(name, getattr(self, name), 1)
        _at_least("temporal_window", self.temporal_window, 0)
        _at_least("temporal_weight", self.temporal_weight, 0)
        if self.trim_concepts is not None:
            _at_least("trim_concepts", self.trim_concepts, 2)
        if self.weights is not None and not isinstance(self.weights, str):
            raise InvalidInputError(
                f"weights must be the path of a file as a str, not {self.weights!r}",
                argument="weights",
            )
        if self.ranking not in ("statements", "paper", "ement", "vectors"):
            raise InvalidInputError(
                "ranking must be 'statements', 'paper', 'ement' or 'vectors', "
                f"not {self.ranking!r}",
                argument="ranking",
            )


def _at_least(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= least:
        raise InvalidInputError(f"{name} must be at least {least}, not {value!r}", argument=name)
