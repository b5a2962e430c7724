"""``python -m training.pipeline DATA_DIR``: train, pack, measure and write the model card."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from random import Random

from spacy.language import Language
from spacy.training import Example
from thinc.api import NumpyOps, set_current_ops

from recallm.english.shipped import KNOWLEDGE, SYNTAX
from training.cards import table, write_card
from training.pipeline.clauses import ClauseMaker
from training.pipeline.components import blank_part
from training.pipeline.corpora import Corpora, read_corpora, with_silver_tags
from training.pipeline.declaratives import StatementMaker, declaratives
from training.pipeline.examples import example_of
from training.pipeline.fitting import Plan, fit
from training.pipeline.lexicon import word_lists
from training.pipeline.names import NameSource
from training.pipeline.packing import pack, unpack
from training.pipeline.passages import Passage, Variation, neighbours, vary
from training.pipeline.scoring import scores, words_per_second
from training.pipeline.treebank import Sentence

_OUTPUT = Path(__file__).parents[2] / "recallm" / "english" / "data" / "en_recallm"
_TEACHER_STEPS = 600
_KNOWLEDGE_STEPS = 3_600
_SYNTAX_STEPS = 2_400
_DECLARATIVES = 12_000
"""How many statements are made: 70,000 words (100,000 for `syntax`) beside 325,000 of the
treebanks."""

# Heads are lost where a passage is given words or names that no tree has.
_SYNTAX_VARIATION = Variation(
    names_swapped=0.0, bullet=0.0, symbol=0.0, emoji=0.0, rule=0.0, line_broken=0.0
)


def train_part(
    part: str,
    corpora: Sequence[Sequence[Sentence]],
    variation: Variation,
    plan: Plan,
) -> Language:
    """Train one part on all of `corpora`, each seen once in a round, and return it packed and
    unpacked again: with the weights that ship."""
    nlp = blank_part(part)
    random = Random(plan.seed)
    names = NameSource(plan.seed)

    def stream() -> Iterator[Example]:
        while True:
            runs = [
                run for corpus in corpora for run in neighbours(corpus, random, variation.longest)
            ]
            random.shuffle(runs)
            for run in runs:
                yield example_of(nlp, vary(run, variation, random, names), trees=part == SYNTAX)

    def labelled() -> list[Example]:
        return [
            example_of(nlp, Passage(sentences=(sentence,), separators=("",)), trees=part == SYNTAX)
            for sentence in corpora[0]
        ]

    fit(nlp, labelled, stream(), plan, _say)
    return unpack([pack(nlp)])


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)


def _made(maker: type[StatementMaker], corpora: Corpora, seed: int) -> tuple[Sentence, ...]:
    """Statements, filled with the words of the treebanks that are trained on."""
    lists = word_lists([*corpora.train, *corpora.other])
    return tuple(declaratives(maker(lists, NameSource(seed), Random(seed)), _DECLARATIVES))


def _train(part: str, corpora: Corpora, seed: int, scale: float) -> bytes:
    """Train one part. The parts share nothing, so either can be trained anew by itself."""

    def plan(steps: int) -> Plan:
        return Plan(steps=max(1, round(steps * scale)), seed=seed)

    made = _made(ClauseMaker if part == SYNTAX else StatementMaker, corpora, seed)
    gold = [corpora.train, corpora.train, corpora.other, made]
    if part == SYNTAX:
        _say(SYNTAX)
        return pack(train_part(SYNTAX, gold, _SYNTAX_VARIATION, plan(_SYNTAX_STEPS)))
    _say("a first pipeline tags the sentences that have entities only")
    teacher = train_part(KNOWLEDGE, gold, Variation(), plan(_TEACHER_STEPS))
    silver = with_silver_tags(teacher, corpora.entities_only)
    _say(KNOWLEDGE)
    return pack(train_part(KNOWLEDGE, [*gold, silver], Variation(), plan(_KNOWLEDGE_STEPS)))


def _figures(packed: dict[str, bytes], corpora: Corpora, seed: int, scale: float) -> str:
    """The figures of the model card: scores are F1 or accuracy in per cent."""
    knowledge = unpack([packed[KNOWLEDGE]])
    both = unpack([packed[KNOWLEDGE], packed[SYNTAX]])
    columns = [
        scores(knowledge, corpora.test),
        scores(knowledge, corpora.test, respell=str.lower),
        scores(knowledge, corpora.dev),
        scores(knowledge, corpora.dev, respell=str.lower),
    ]
    test, dev = (scores(both, split, trees=True) for split in (corpora.test, corpora.dev))
    rows = [(name, *(f"{column[name]:.1f}" for column in columns)) for name in columns[0]]
    rows += [(name, f"{test[name]:.1f}", "", f"{dev[name]:.1f}", "") for name in test]
    sizes = [len(packed[part]) / 1e6 for part in (KNOWLEDGE, SYNTAX)]
    speeds = [round(words_per_second(nlp, corpora.test), -3) for nlp in (knowledge, both)]
    run = (
        f"spaCy {version('spacy')}, seed {seed}; {round(_KNOWLEDGE_STEPS * scale):,} steps for "
        f"`{KNOWLEDGE}`, {round(_SYNTAX_STEPS * scale):,} for `{SYNTAX}`; {sizes[0]:.1f} and "
        f"{sizes[1]:.1f} MB; {speeds[0]:,.0f} words\na second on one core with `{KNOWLEDGE}`, "
        f"{speeds[1]:,.0f} with both parts."
    )
    head = ("F1 or accuracy, per cent", "test", "test, lower-cased", "dev", "dev, lower-cased")
    return f"{run}\n\n{table(head, rows)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train with the command line's `arguments` (those of the process where None)."""
    parser = argparse.ArgumentParser(prog="python -m training.pipeline", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with ewt, uner, pud, gum and ner_extra")
    parser.add_argument("--output", type=Path, default=_OUTPUT, help="default: into the package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scale", type=float, default=1.0, help="0.1: a tenth of the steps")
    parser.add_argument(
        "--train",
        nargs="*",
        choices=(KNOWLEDGE, SYNTAX),
        default=(KNOWLEDGE, SYNTAX),
        help="the parts to train; those not named are measured as they lie in the output folder",
    )
    options = parser.parse_args(arguments)
    # NumPy multiplies these small matrices faster than thinc's default does.
    set_current_ops(NumpyOps(use_blis=False))
    corpora = read_corpora(options.data)
    options.output.mkdir(parents=True, exist_ok=True)
    for part in options.train:
        content = _train(part, corpora, options.seed, options.scale)
        (options.output / f"{part}.bin").write_bytes(content)
    packed = {part: (options.output / f"{part}.bin").read_bytes() for part in (KNOWLEDGE, SYNTAX)}
    _say("measuring")
    figures = _figures(packed, corpora, options.seed, options.scale)
    write_card(options.output, figures, shipped=_OUTPUT)
    print(figures)


if __name__ == "__main__":
    main()
