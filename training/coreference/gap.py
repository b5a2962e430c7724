"""GAP: Wikipedia paragraphs, each with a pronoun and two names that it may stand for.

The two names are given, as in the paper's gold two-mention setting: a prediction says for each of
them whether the pronoun stands for it. The page's address is not read (snippet context).
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from recallm.english.concepts import ConceptPlace
from recallm.english.coreference.discourse import Referent
from recallm.english.coreference.passage import Name, TextRead, name_of_span
from recallm.english.coreference.resolving import Decision, Ranker, decisions
from recallm.model import ConceptMention
from training.cards import table
from training.coreference.reading import read_texts

_LEAST = 0.15
"""The least probability of a name that is chosen, by cross-validation on the development texts."""
_FEMININE = frozenset({"she", "her", "hers"})
_COLUMNS = ("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset")


@dataclass(frozen=True, slots=True, kw_only=True)
class GapText:
    """A text of GAP: the token of its pronoun, the places of A and B among the names of ``read``,
    and whether the pronoun stands for A and for B.

    ``page`` tells texts of one page. ``plain`` is the text with the names that recallm finds.
    """

    id: str
    page: str
    pronoun: str
    token: int
    names: tuple[int, int]
    answers: tuple[bool, bool]
    read: TextRead
    plain: TextRead

    @property
    def is_feminine(self) -> bool:
        """Whether its pronoun is."""
        return self.pronoun.lower() in _FEMININE


def read_gap(path: Path) -> list[GapText]:
    """The texts of a file, with A and B among their names whatever the pipeline takes for names.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not in GAP's form.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if missing := [column for column in _COLUMNS if column not in (reader.fieldnames or ())]:
            raise ValueError(f"{path} lacks the columns {', '.join(missing)} of GAP")
        rows = list(reader)
    texts = read_texts([row["Text"] for row in rows])
    return [_gap_text(row, read) for row, read in zip(rows, texts, strict=True)]


def decide(text: GapText, choose: Callable[[Decision], Referent | None]) -> Decision | None:
    """The decision about a text's pronoun; ``choose`` decides about the anaphors before it. None if
    the pronoun is no anaphor to recallm, or has no candidates."""
    for decision in decisions(text.read, (), choose):
        if decision.anaphor.token == text.token:
            return decision
        if decision.anaphor.token > text.token:
            break
    return None


def predict(text: GapText, decision: Decision | None, ranker: Ranker) -> tuple[bool, bool]:
    """Whether the pronoun stands for A, and whether for B: for the more probable one, if that is
    not improbable. A choice of one in nearly all texts gives the best F1."""
    if decision is None:
        return False, False
    probabilities = ranker.probabilities(decision.rows)
    candidates = [referent for referent, _ in decision.candidates]
    of_a, of_b = (
        float(probabilities[candidates.index(referent) + 1]) if referent in candidates else 0.0
        for referent in (decision.discourse.referents[place] for place in text.names)
    )
    if max(of_a, of_b) < _LEAST:
        return False, False
    if of_a == of_b:  # two names that recallm takes for one: the nearer
        behind = text.read.names[text.names[1]].first > text.token
        return behind, not behind
    return of_a > of_b, of_b > of_a


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Precision, recall and F1 in per cent over names, as GAP's scorer counts them."""

    precision: float
    recall: float
    f1: float


def score(texts: Iterable[GapText], predictions: Iterable[tuple[bool, bool]]) -> Score:
    """Compare predictions with the answers: each name is one case."""
    right = predicted = true = 0
    for text, prediction in zip(texts, predictions, strict=True):
        for answer, said in zip(text.answers, prediction, strict=True):
            right += answer and said
            predicted += said
            true += answer
    precision = 100 * right / predicted if predicted else 0.0
    recall = 100 * right / true if true else 0.0
    total = precision + recall
    return Score(
        precision=precision, recall=recall, f1=2 * precision * recall / total if total else 0.0
    )


def table_of_scores(
    head: str, rows: Mapping[str, tuple[Sequence[GapText], Sequence[tuple[bool, bool]]]]
) -> str:
    """A table in Markdown: of each row's texts and predictions the F1 for masculine and feminine
    pronouns, their ratio (bias), and the scores over all."""
    lines = []
    for name, (texts, predictions) in rows.items():
        of: dict[bool, list[int]] = {False: [], True: []}
        for place, text in enumerate(texts):
            of[text.is_feminine].append(place)
        masculine, feminine = (
            score([texts[i] for i in places], [predictions[i] for i in places]).f1
            for places in of.values()
        )
        bias = f"{feminine / masculine:.2f}" if masculine else "-"
        whole = score(texts, predictions)
        overall = (f"{value:.1f}" for value in (whole.f1, whole.precision, whole.recall))
        lines.append((name, f"{masculine:.1f}", f"{feminine:.1f}", bias, *overall))
    return table((head, "masculine", "feminine", "bias", "F1", "precision", "recall"), lines)


def write_predictions(
    path: Path, texts: Sequence[GapText], predictions: Sequence[tuple[bool, bool]]
) -> None:
    """Write predictions as the official scorer reads them."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        for text, (a, b) in zip(texts, predictions, strict=True):
            writer.writerow((text.id, str(a).upper(), str(b).upper()))


def _gap_text(row: dict[str, str], read: TextRead) -> GapText:
    try:
        spans = [tokens_of(read, int(row[f"{key}-offset"]), row[key]) for key in "AB"]
        token = tokens_of(read, int(row["Pronoun-offset"]), row["Pronoun"])[0]
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"{row['ID']}: its offsets do not lie in its text ({error})") from error
    plain = copy(read)
    name_tokens(read, spans)
    tokens = [(name.first, name.last) for name in read.names]
    return GapText(
        id=row["ID"],
        page=row.get("URL") or row["ID"],
        pronoun=row["Pronoun"],
        token=token,
        names=(tokens.index(spans[0]), tokens.index(spans[1])),
        answers=(_is_true(row.get("A-coref")), _is_true(row.get("B-coref"))),
        read=read,
        plain=plain,
    )


def _is_true(value: str | None) -> bool:
    return (value or "").upper() == "TRUE"


def tokens_of(read: TextRead, start: int, words: str) -> tuple[int, int]:
    """The tokens of a text that begins at a character."""
    first = max(0, bisect_right(read.starts, start) - 1)
    last = first + 1
    while last < len(read.words) and read.starts[last] < start + len(words):
        last += 1
    return first, last


def name_tokens(read: TextRead, spans: Sequence[tuple[int, int]]) -> None:
    """Make ranges of tokens names of a passage, in place of all its names that overlap them."""
    found = read.names
    entries: list[tuple[tuple[int, int], ConceptPlace, str]] = [
        ((name.first, name.last), name.place, name.kind)
        for name in found
        if not any(name.first < last and first < name.last for first, last in spans)
    ]
    for first, last in spans:
        overlapping = (name for name in found if name.first < last and first < name.last)
        kind = next((name.kind for name in overlapping if name.kind), "")
        words = [word for word in read.words[first:last] if word.is_word] or read.words[first:last]
        mention = ConceptMention(
            name=" ".join(word.stem for word in words),
            label=" ".join(word.text for word in words),
            kind="entity" if len(words) > 1 else "name",
        )
        entries.append(((first, last), ConceptPlace(mention, is_name=True), kind))
    names: list[Name] = []
    for span, place, kind in sorted(entries, key=lambda entry: entry[0]):
        names.append(name_of_span(read, place, span, kind, names))
    read.names = names  # a cached property: what stands here is what the passage's names are
