"""Graded answers of two branches to the same questions, and what one has over the other."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

from recallm.hybrid.features import FEATURES, AnswerFeatures, Floats, question_stems
from training.discriminator.styles import Manner, evasion, refuses, restyled

_FULL = 2
"""The grade of a right answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedPair:
    """Both branches' answers to one question about one film, and the authors' own hybrid's choice;
    each was graded 0, 1 or 2."""

    film: str
    question: str
    recallm: str
    vectors: str
    hybrid: str
    recallm_grade: int
    vectors_grade: int
    hybrid_grade: int


def read_pairs(path: Path) -> list[GradedPair]:
    """The pairs of a file of JSON Lines (a row a film; also with gzip), or of all such files in a
    folder, in the order of their names.

    Raises:
        ValueError: there are none, or a row is not as ``training/README.md`` says.

    """
    files = [path]
    if path.is_dir():
        files = sorted(
            file for file in path.iterdir() if file.name.endswith((".jsonl", ".jsonl.gz"))
        )
    pairs = [pair for file in files for pair in _of_file(file)]
    if not pairs:
        raise ValueError(f"no graded answers in {path}: give the file dev.jsonl.gz, or its folder")
    return pairs


def _of_file(file: Path) -> list[GradedPair]:
    content = file.read_bytes()
    text = gzip.decompress(content) if file.suffix == ".gz" else content
    pairs: list[GradedPair] = []
    # Plots hold other line separators than this one.
    for number, line in enumerate(text.decode().split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            pairs += (
                GradedPair(
                    film=row["id"],
                    question=asked["question"],
                    recallm=asked["recallm_answer"],
                    vectors=asked["vectordb_answer"],
                    hybrid=asked["hybrid_answer"],
                    recallm_grade=asked["grades"]["recallm"],
                    vectors_grade=asked["grades"]["vectordb"],
                    hybrid_grade=asked["grades"]["hybrid"],
                )
                for asked in row["questions"]
            )
        except (ValueError, TypeError, LookupError) as error:
            raise ValueError(
                f"{file}, line {number} is no film with graded answers ({error!r})"
            ) from error
    return pairs


def grades(pairs: Sequence[GradedPair]) -> Floats:
    """The grades, shape (pairs, 3): RecallM's, the vector branch's, the authors' hybrid's."""
    return np.array(
        [(pair.recallm_grade, pair.vectors_grade, pair.hybrid_grade) for pair in pairs], dtype=float
    )


def retold(
    pairs: Sequence[GradedPair],
    manners: Sequence[Manner | None],
    *,
    alike: bool = True,
    seed: int = 0,
) -> list[GradedPair]:
    """Each pair said in one of ``manners`` (None: as it was), or each answer in one of its own
    where they are not ``alike``."""
    random = Random(seed)
    told: list[GradedPair] = []
    for pair in pairs:
        one = random.choice(manners)
        other = one if alike else random.choice(manners)
        recallm, vectors = (
            answer if manner is None else restyled(pair.question, answer, manner, random)
            for answer, manner in ((pair.recallm, one), (pair.vectors, other))
        )
        told.append(replace(pair, recallm=recallm, vectors=vectors))
    return told


def against_evasions(
    pairs: Sequence[GradedPair], *, seed: int = 0
) -> tuple[list[GradedPair], Floats]:
    """Each pair with an evasion in place of one answer, where the other one answers and has full
    marks; and the lead of RecallM's, 0 where there is none."""
    random = Random(seed)
    told: list[GradedPair] = []
    lead = np.zeros(len(pairs))
    for place, pair in enumerate(pairs):
        evaded = evasion(pair.question, random)
        if pair.recallm_grade == _FULL and not refuses(pair.recallm):
            lead[place] = _FULL
            told.append(replace(pair, vectors=evaded))
        elif pair.vectors_grade == _FULL and not refuses(pair.vectors):
            lead[place] = -_FULL
            told.append(replace(pair, recallm=evaded))
        else:
            told.append(pair)
    return told, lead


def differences(pairs: Sequence[GradedPair]) -> Floats:
    """What RecallM's answer has over the vector branch's, shape (pairs, features)."""
    rows = np.empty((len(pairs), len(FEATURES)))
    for place, pair in enumerate(pairs):
        question = question_stems(pair.question)
        one, other = (AnswerFeatures(text, question) for text in (pair.recallm, pair.vectors))
        rows[place] = one.values - other.values
    return rows
