"""``python -m training.ranking.confidence``: fits when a memory says that nothing is known.

    python -m training.ranking.confidence --locomo DIR --realtalk DIR

Each conversation becomes a memory. Its own questions have an answer there, those of the next
conversation have none. A logistic model of two values tells them apart: the log-odds of the best
statement, and the share of the question's names that the memory does not know. Both kinds of
question weigh the same, and so do both data sets. The command prints the numbers that
``recallm.recall.ranking.choosing`` holds, and the area under the ROC curve for each conversation by
the numbers that are fitted without that conversation.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import rankdata

from benchmarks.corpora import Conversation, conversations
from recallm import RecallM
from recallm.recall.ranking.choosing import AskedNames
from recallm.recall.ranking.linear_model import rank
from recallm.recall.request import RecallRequest
from training.ranking.examples import candidates_of

Floats = NDArray[np.float64]

_PENALTY = 1e-4
_LEAST_ODDS = -10.0
"""The log-odds of the best statement where no statement is found."""


class Question(NamedTuple):
    """A question that was put to a memory: where, what was measured, and whether the memory holds
    an answer."""

    kind: str
    conversation: str
    log_odds: float
    unknown: float
    answered: bool


def main() -> None:
    """Ask, fit, print."""
    parser = argparse.ArgumentParser(description="The confidence of the default ranking")
    parser.add_argument("--locomo", type=Path, required=True, help="a folder of conversations")
    parser.add_argument("--realtalk", type=Path, required=True, help="a folder of conversations")
    options = parser.parse_args()
    questions: list[Question] = []
    for kind, folder in (("LoCoMo", options.locomo), ("REALTALK", options.realtalk)):
        talks = list(conversations(folder))
        if len(talks) < 2:
            parser.error(f"{folder} must hold at least two conversations")
        for talk, other in zip(talks, [*talks[1:], talks[0]], strict=True):
            questions += asked(kind, talk, other)
    constant, of_best, of_unknown = fitted(questions)
    print(f"constant {constant:.2f}, of best {of_best:.2f}, of unknown {of_unknown:.2f}")
    for name in dict.fromkeys(question.conversation for question in questions):
        others = [each for each in questions if each.conversation != name]
        own = [each for each in questions if each.conversation == name]
        print(f"{name}: area under the ROC curve {area(own, fitted(others)):.3f}")


def asked(kind: str, talk: Conversation, other: Conversation) -> list[Question]:
    """The questions of two conversations, put to a memory of the first one."""
    found: list[Question] = []
    with RecallM() as memory:
        memory.update_many(
            {"text": turn.text, "speaker": turn.speaker, "session": turn.session}
            for turn in talk.turns
            if turn.text.strip()
        )
        for conversation in (talk, other):
            for each in conversation.questions:
                best, unknown = measured(memory, each.question)
                found.append(
                    Question(
                        kind=kind,
                        conversation=talk.name,
                        log_odds=best,
                        unknown=unknown,
                        answered=conversation is talk,
                    )
                )
    return found


def measured(memory: RecallM, question: str) -> tuple[float, float]:
    """The log-odds of the best statement, and the share of the names that the memory does not
    know."""
    candidates = candidates_of(memory, question)
    if candidates is None:
        return _LEAST_ODDS, 1.0
    ranked = rank(candidates, RecallRequest(question=question, config=memory.config))
    odds = ranked.odds()
    best = (odds.whole - odds.superseded)[list(ranked.order)].max(initial=_LEAST_ODDS)
    return float(best), AskedNames.of(candidates).unknown_share


def fitted(questions: Sequence[Question]) -> tuple[float, float, float]:
    """The constant, the factor on the log-odds of the best statement, and the factor on the share
    of unknown names."""
    counts = Counter((each.kind, each.answered) for each in questions)
    weights = np.array([1 / counts[each.kind, each.answered] for each in questions])
    weights /= weights.sum()
    values, answered = _values(questions), _answered(questions)

    def loss(row: Floats) -> tuple[float, Floats]:
        odds = values @ row
        slope = weights * (np.exp(-np.logaddexp(0.0, -odds)) - answered)
        value = weights @ (np.logaddexp(0.0, odds) - answered * odds) + _PENALTY * row[1:] @ row[1:]
        return float(value), values.T @ slope + 2 * _PENALTY * np.array([0.0, *row[1:]])

    constant, of_best, of_unknown = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B").x
    return float(constant), float(of_best), float(of_unknown)


def area(questions: Sequence[Question], row: tuple[float, float, float]) -> float:
    """How often a question with an answer gets more confidence than one without."""
    answered = _answered(questions)
    ranks = rankdata(_values(questions) @ np.array(row))
    with_answer, without = answered.sum(), len(answered) - answered.sum()
    above = ranks[answered == 1].sum() - with_answer * (with_answer + 1) / 2
    return float(above / (with_answer * without))


def _values(questions: Sequence[Question]) -> Floats:
    return np.array([(1.0, each.log_odds, each.unknown) for each in questions])


def _answered(questions: Sequence[Question]) -> Floats:
    return np.array([each.answered for each in questions], dtype=np.float64)


if __name__ == "__main__":
    main()
