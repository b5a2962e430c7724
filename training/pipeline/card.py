"""The model card of the shipped pipeline: what it is, and its measured scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured on the packed pipeline; scores are F1 or accuracy in per cent."""

    dev: Mapping[str, float]
    dev_lower_cased: Mapping[str, float]
    test: Mapping[str, float]
    test_lower_cased: Mapping[str, float]
    syntax_dev: Mapping[str, float]
    syntax_test: Mapping[str, float]
    bytes_of: Mapping[str, int]
    words_per_second: Mapping[str, float]
    spacy_version: str
    seed: int
    steps: Mapping[str, int]


_HEAD = """\
# en_recallm: the English pipeline inside recallm

- **Does:** UPOS tags, sentence starts, entities (PER, ORG, LOC), roles (the relation of each word
  to its head, as Universal Dependencies name it); apart from them: trees, lemmas.
- **Reads:** English web text, mail, chat, reviews, news; cut by spaCy's English tokenizer.
- **Made of:** spaCy {spacy}: hashed embeddings and convolutions, no word vectors; the weights
  are stored in half precision.
- **Parts:** `knowledge.bin` {knowledge_mb:.1f} MB (morphologizer, senter, roles, ner), `syntax.bin`
  {syntax_mb:.1f} MB (parser, lemmatizer). Loaded by `recallm.english.shipped.load_shipped`.
- **Speed:** {knowledge_wps:,.0f} words a second on one core with `knowledge`, {both_wps:,.0f}
  with both parts.
- **Trained by:** `python -m training.pipeline DATA_DIR`, seed {seed}, {knowledge_steps:,} and
  {syntax_steps:,} steps. Beside the corpora it saw short statements made of templates ("Ingrid
  lives in Malaga."), filled with words of the treebanks and names from a generator.
- **Licence:** CC BY-SA 4.0 (`LICENSE`, `ATTRIBUTION.md`); the licence of the code is another.

## Scores
Universal Dependencies English EWT with the entities of Universal NER, from raw text, one sentence
an input. All choices were made on dev, none on test; measured are the packed files. A token counts
as right only if it begins and ends where the gold word does; entities count by exact span.
"Concept words" are NOUN, PROPN and NUM together, as knowledge updates use them. "Aligned" figures
leave out the words that the tokenizer cuts otherwise than the treebank; those of roles leave out
punctuation as well.

| F1 or accuracy, per cent | test | test, lower-cased | dev | dev, lower-cased |
|---|---|---|---|---|
"""

_FOOT = """
UAS and LAS leave punctuation out; they and the lemmas are over the words that the tokenizer cuts
as the treebank does.

## Limits
- The types of entities are weak, ORG above all: use the spans, hang no logic on PER, ORG and LOC.
- There is no DATE label; nationalities, products and works are not entities here.
- Lower-cased names are found much less often than capitalised ones (second column).
- spaCy's tokenizer splits some mail addresses, rows of symbols and telephone numbers otherwise
  than the treebank: part of the errors on NUM are these.
- The lemma of a name that opens a sentence may come lower-cased.
- The text of the corpora is from the 2000s and 2010s; newer names are recognised by their form.
"""

_ROWS = {
    "upos_aligned": "UPOS accuracy, aligned",
    "roles_aligned": "roles, aligned",
    "concept words": "concept words",
    "concept words, aligned": "concept words, aligned",
    "concept words, tag right": "concept words, and which of the three",
    "NOUN": "NOUN",
    "PROPN": "PROPN",
    "PROPN, aligned": "PROPN, aligned",
    "NUM": "NUM",
    "sentences": "sentences",
    "entities": "entity spans",
    "entities, type right": "entity spans and types",
    "PER": "PER",
    "ORG": "ORG",
    "LOC": "LOC",
}


def model_card(measured: Measured) -> str:
    """The card as Markdown."""
    lines = [
        _HEAD.format(
            spacy=measured.spacy_version,
            knowledge_mb=measured.bytes_of["knowledge"] / 1e6,
            syntax_mb=measured.bytes_of["syntax"] / 1e6,
            knowledge_wps=round(measured.words_per_second["knowledge"], -3),
            both_wps=round(measured.words_per_second["both"], -3),
            seed=measured.seed,
            knowledge_steps=measured.steps["knowledge"],
            syntax_steps=measured.steps["syntax"],
        )
    ]
    columns = (
        measured.test,
        measured.test_lower_cased,
        measured.dev,
        measured.dev_lower_cased,
    )
    for key, title in _ROWS.items():
        cells = " | ".join(f"{column[key]:.1f}" for column in columns)
        lines.append(f"| {title} | {cells} |\n")
    lines.extend(
        f"| {key} | {measured.syntax_test[key]:.1f} | | {measured.syntax_dev[key]:.1f} | |\n"
        for key in measured.syntax_test
    )
    lines.append(_FOOT)
    return "".join(lines)
