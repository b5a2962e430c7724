"""What was measured, as tables, and the model card that ships beside the weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recallm.english.coreference.features import FEATURES

Scores = Mapping[str, tuple[float, float, float]]
"""F1, precision and recall in per cent, for "all", "masculine" and "feminine"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The scores and what they were measured on.

    ``held_out``: GAP's development texts, each by weights that no text of its page had a part in.
    ``validation``: GAP's validation texts by the weights that ship. ``outcomes``: for each anaphor
    of GUM and of the filled templates its kind, the probability of its best candidate by weights of
    other documents and templates, and whether that candidate is right.
    """

    examples: Mapping[str, int]
    seed: int
    held_out: Scores
    validation: Scores
    thresholds: Mapping[str, float]
    outcomes: Sequence[tuple[str, float, bool]]

    def tables(self) -> str:
        """Scores on GAP, then what the thresholds give on GUM and the templates."""
        lines = [
            "| GAP, two names given | masculine | feminine | bias | F1 | precision | recall |",
            "|---|---|---|---|---|---|---|",
        ]
        for name, scores in (
            ("development, other pages", self.held_out),
            ("validation", self.validation),
        ):
            masculine, feminine = scores["masculine"][0], scores["feminine"][0]
            f1, precision, recall = scores["all"]
            lines.append(
                f"| {name} | {masculine:.1f} | {feminine:.1f} | {feminine / masculine:.2f} "
                f"| {f1:.1f} | {precision:.1f} | {recall:.1f} |"
            )
        lines += [
            "",
            "| GUM and templates, others | threshold | anaphors | resolved | precision |",
            "|---|---|---|---|---|",
        ]
        for kind, threshold in self.thresholds.items():
            of_kind = [it for it in self.outcomes if it[0] == kind]
            right = [is_right for _, probability, is_right in of_kind if probability >= threshold]
            share = f"{100 * sum(right) / len(right):.0f}" if right else "-"
            lines.append(f"| {kind} | {threshold:.2f} | {len(of_kind)} | {len(right)} | {share} |")
        return "\n".join(lines)


def model_card(measured: Measured) -> str:
    """The card, in Markdown."""
    examples = ", ".join(f"{count:,} of {name}" for name, count in measured.examples.items())
    return f"""\
# ranker.npz: whom a pronoun stands for

- **Does:** the probability of each candidate that it is the antecedent of a third-person pronoun
  or of a short definite noun phrase ("the company"), and the probability that none of them is
  (`recallm.english.coreference`). Candidates are names in the passage and in the last passages
  of its session.
- **Reads:** English. {len(FEATURES)} features (`recallm/english/coreference/features.py`):
  distance, roles and clauses by the pipeline's tagger, gender of first names, titles and relations,
  repetition, types of names. No words of the data are in the weights.
- **Made of:** small networks with one hidden layer, put together into one; weights in half
  precision.
- **Trained by:** `python -m training.coreference GAP_DIR GUM_DIR`, seed {measured.seed}.
- **Data:** {examples}: [GAP](https://github.com/google-research-datasets/gap-coreference)
  (development texts; Apache-2.0), also cut into passages by chance, and
  [GUM](https://gucorpling.org/gum/) (genres academic, bio, court, interview, news, voyage;
  CC BY and CC BY-SA 4.0), and short sessions out of templates written for this
  (`training/coreference/sessions.toml`).
- **Licence:** CC BY-SA 4.0, as the pipeline beside it (`../en_recallm/LICENSE`).

`name_genders.toml` was made of the first names of [faker](https://github.com/joke2k/faker) (MIT
licence).

## Scores
In GAP's task two names are given, and the more probable one is chosen if it is not improbable (at
least 0.15). The development texts served for choosing features and sizes; GAP's test texts were not
read.

{measured.tables()}

In use an anaphor gets an antecedent from the threshold of its kind on: a wrong antecedent misleads,
a missing one does not.

## Limits
- Antecedents are names. A pronoun that goes back to "my sister" or "the dog" has none.
- Gender is guessed by first name, title or relation. Who has a name of another gender, or goes by
  "they", is missed.
- What only knowledge of the world tells ("Ann beat Eve because she trained more") is beyond it.
- English alone.
"""
