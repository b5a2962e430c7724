"""What was measured, as a table, and the model card that ships beside the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from training.discriminator.fitting import Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Accuracies in per cent, over ``folds`` of films: each pair by weights that no pair of its
    film had a part in. ``mixed``: each answer in a manner that was not learnt from, or as it was;
    ``manners``: both answers in one of these; ``figures``: both refusing as no rule
    catches."""

    films: int
    questions: int
    folds: int
    seed: int
    recallm: float
    vectors: float
    hybrid: float
    perfect: float
    trained: float
    mixed: float
    manners: Sequence[float]
    figures: float
    calibration: Calibration
    weights: Mapping[str, float]

    def table(self) -> str:
        """A row for each way to choose."""
        rows = [
            ("RecallM branch", self.recallm),
            ("vector branch", self.vectors),
            ("the authors' hybrid", self.hybrid),
            ("trained, other films", self.trained),
            ("trained, mixed manners", self.mixed),
            *((f"trained, manner {n}", it) for n, it in enumerate(self.manners, start=1)),
            ("trained, refusals that no rule catches", self.figures),
            ("perfect choice", self.perfect),
        ]
        head = (
            f"{self.questions:,} questions on {self.films} films, {self.folds} folds of films, "
            f"seed {self.seed}"
        )
        lines = [f"| {name} | {value:.1f} |" for name, value in rows]
        agrees = (
            f"Brier score {self.calibration.brier:.3f}, calibration error "
            f"{self.calibration.error:.3f} (pairs whose grades differ)"
        )
        return "\n".join((head, "", "| chosen by | accuracy, % |", "|---|---|", *lines, "", agrees))


def model_card(measured: Measured) -> str:
    """The card, in Markdown."""
    weights = "\n".join(f"| {name} | {value:+.2f} |" for name, value in measured.weights.items())
    return f"""\
# discriminator.json: which of several answers is the better one

- **Does:** the probability that an answer is better than another one to the same question, where
  one is better (`recallm.hybrid.TrainedDiscriminator`).
- **Reads:** English questions and answers, nothing else: not what was recalled.
- **Made of:** a logistic regression on {len(measured.weights)} features of what one answer has over
  the other (`recallm/hybrid/features.py`), without an intercept: it does not matter which stands
  first, and no branch is favoured. No text, no words and no n-grams of the data are in it.
- **Trained by:** `python -m training.discriminator DATA`, seed {measured.seed}; numpy alone.
- **Data:** questions and reference answers of DuoRC (ParaphraseRC; MIT licence), with the answers
  and grades of the RecallM authors' published evaluation (Apache-2.0): GPT-3.5 with two prompts.
  Pairs whose grades differ are examples, weighted by the difference. Beside them, at half the
  weight, stand the same answers in the manner of other answerers: other words for refusing, bare
  names in place of sentences, words before and after.
- **Licence:** Apache-2.0, as the code.

## Scores
Accuracy is the sum of grades over twice the questions. Trained is by weights that no question about
the same film had a part in. The manners are not those of the training: both answers in one, or each
in one of its own or as it was (mixed). They flatter: the rules by which refusals are recognised
were written by who knew these manners too, and catch 13 of their 14 refusals, some by their very
words. What no rule catches ("Beats me.", "The answer eludes me") is the other extreme, and has a
row of its own.

{measured.table()}

## Limits
- It knows nothing of what is true: of two answers that both tell something of the kind that is
  asked for it prefers the plainer one, with a probability near one half.
- A graded pair is noisy: where the right answer was that there is none, a refusal got full marks.
- Refusals are recognised in English alone, by rules; one in a figure of speech is taken for an
  answer.
- Bare answers beside full sentences were made by rule, not by a model that speaks so.

## Weights
What a unit of each feature adds to the log-odds. They were fitted together: one alone says little.

| feature | weight |
|---|---|
{weights}
"""
