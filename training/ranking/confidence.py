"""``python -m training.ranking.confidence``: fits when a memory says that nothing is known.

    python -m training.ranking.confidence --locomo DIR --realtalk DIR --longmemeval DIR

Each conversation becomes a memory. Its own questions have an answer there, those of the next
conversation have none: neither as they are, about people unknown here, nor about those who speak
here ("What is Tom's budget?" of Ann). A history of LongMemEval is told by its sessions of evidence
and two others, and is asked its own question and that of each of the next five histories.

A logistic model of two values tells the kinds of question apart: what the signals ``OF_MATTER`` add
for the statement that meets the matter best, and the share of the question's names that the memory
does not know. Both kinds weigh the same, and so does each data set. The command prints the numbers
that ``recallm.recall.ranking.choosing`` holds, and the area under the ROC curve for each
conversation (of histories: a fifth of them) by the numbers that are fitted without it.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import rankdata

from benchmarks.corpora import ABSTENTION, Conversation, Turn, conversations, histories
from recallm import RecallM
from recallm.recall.ranking.choosing import AskedNames
from recallm.recall.ranking.linear_model import rank
from recallm.recall.request import RecallRequest
from training.ranking.examples import candidates_of

Floats = NDArray[np.float64]

_PENALTY = 1e-4
_OTHER_SESSIONS = 2
_OTHER_HISTORIES = 5
_PARTS = 5


class Question(NamedTuple):
    """A question that was put to a memory: of which data set, in what part of it, what was
    measured, and whether the memory holds an answer."""

    kind: str
    part: str
    matter: float
    unknown: float
    answered: bool


def main() -> None:
    """Ask, fit, print."""
    parser = argparse.ArgumentParser(description="The confidence of the default ranking")
    for name in ("locomo", "realtalk", "longmemeval"):
        parser.add_argument(f"--{name}", type=Path, required=True, help="a folder")
    options = parser.parse_args()
    questions: list[Question] = []
    for kind, folder in (("LoCoMo", options.locomo), ("REALTALK", options.realtalk)):
        talks = list(conversations(folder))
        if len(talks) < 2:
            parser.error(f"{folder} must hold at least two conversations")
        for talk, other in zip(talks, [*talks[1:], talks[0]], strict=True):
            strange = [each.question for each in other.questions]
            strange += [*about_speakers(strange, other, talk)]
            own = [each.question for each in talk.questions]
            questions += asked(kind, talk.name, talk.turns, own, strange)
    told = [each for each in histories(options.longmemeval) if _is_answered(each)]
    for place, history in enumerate(told):
        others = [told[(place + step) % len(told)] for step in range(1, _OTHER_HISTORIES + 1)]
        strange = [other.questions[0].question for other in others]
        own = [history.questions[0].question]
        part = f"LongMemEval {place % _PARTS}"
        questions += asked("LongMemEval", part, sessions_of_evidence(history), own, strange)
    constant, of_matter, of_unknown = fitted(questions)
    print(f"constant {constant:.2f}, of matter {of_matter:.2f}, of unknown {of_unknown:.2f}")
    for part in dict.fromkeys(question.part for question in questions):
        rest = [each for each in questions if each.part != part]
        left_out = [each for each in questions if each.part == part]
        print(f"{part}: area under the ROC curve {area(left_out, fitted(rest)):.3f}")


def _is_answered(history: Conversation) -> bool:
    [asked] = history.questions
    return bool(asked.evidence) and asked.category != ABSTENTION


def about_speakers(
    questions: Iterable[str], other: Conversation, talk: Conversation
) -> Iterator[str]:
    """Questions about who speaks in ``other``, about who speaks in ``talk`` instead."""
    here, there = ({turn.speaker: None for turn in each.turns} for each in (talk, other))
    renamed = dict(zip(there, here, strict=False))
    names = re.compile(r"\b(?:" + "|".join(map(re.escape, renamed)) + r")\b")
    return (names.sub(lambda found: renamed[found[0]], question) for question in questions)


def sessions_of_evidence(history: Conversation) -> list[Turn]:
    """The turns of the sessions with evidence, and of the first two others."""
    evidence = {id for asked in history.questions for id in asked.evidence}
    sessions = {turn.session for turn in history.turns if turn.id in evidence}
    others = dict.fromkeys(turn.session for turn in history.turns if turn.session not in sessions)
    sessions.update([*others][:_OTHER_SESSIONS])
    return [turn for turn in history.turns if turn.session in sessions]


def asked(
    kind: str, part: str, turns: Iterable[Turn], own: Iterable[str], strange: Iterable[str]
) -> list[Question]:
    """Questions with an answer (``own``) and without (``strange``), put to a memory of turns; those
    for which nothing is found are left out."""
    found: list[Question] = []
    with RecallM() as memory:
        memory.update_many(
            {
                "text": turn.text,
                "speaker": turn.speaker,
                "session": turn.session,
                "timestamp": turn.timestamp,
            }
            for turn in turns
            if turn.text.strip()
        )
        for answered, texts in ((True, own), (False, strange)):
            for text in texts:
                measures = measured(memory, text)
                if measures is not None:
                    found.append(Question(kind, part, *measures, answered))
    return found


def measured(memory: RecallM, question: str) -> tuple[float, float] | None:
    """What the signals ``OF_MATTER`` add for the statement that meets the matter best, and the
    share of the names that the memory does not know; None where nothing is found."""
    candidates = candidates_of(memory, question)
    if candidates is None:
        return None
    ranked = rank(candidates, RecallRequest(question=question, config=memory.config))
    if not ranked.order:
        return None
    matter = ranked.odds().matter[list(ranked.order)].max()
    return float(matter), AskedNames.of(candidates).unknown_share


def fitted(questions: Sequence[Question]) -> tuple[float, float, float]:
    """The constant, the factor on what the matter adds, and the factor on the share of unknown
    names."""
    counts = Counter((each.kind, each.answered) for each in questions)
    weights = np.array([1 / counts[each.kind, each.answered] for each in questions])
    weights /= weights.sum()
    values, answered = _values(questions), _answered(questions)

    def loss(row: Floats) -> tuple[float, Floats]:
        odds = values @ row
        slope = weights * (np.exp(-np.logaddexp(0.0, -odds)) - answered)
        value = weights @ (np.logaddexp(0.0, odds) - answered * odds) + _PENALTY * row[1:] @ row[1:]
        return float(value), values.T @ slope + 2 * _PENALTY * np.array([0.0, *row[1:]])

    constant, of_matter, of_unknown = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B").x
    return float(constant), float(of_matter), float(of_unknown)


def area(questions: Sequence[Question], row: tuple[float, float, float]) -> float:
    """How often a question with an answer gets more confidence than one without."""
    answered = _answered(questions)
    ranks = rankdata(_values(questions) @ np.array(row))
    with_answer, without = answered.sum(), len(answered) - answered.sum()
    above = ranks[answered == 1].sum() - with_answer * (with_answer + 1) / 2
    return float(above / (with_answer * without))


def _values(questions: Sequence[Question]) -> Floats:
    return np.array([(1.0, each.matter, each.unknown) for each in questions])


def _answered(questions: Sequence[Question]) -> Floats:
    return np.array([each.answered for each in questions], dtype=np.float64)


if __name__ == "__main__":
    main()
