"""``python -m training.facts OUTPUT_DIR``: the corpus by which RET-LLM fine-tunes a language model,
as JSON Lines. The same arguments give the same bytes."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from training.facts.examples import examples
from training.facts.forms import FORMS
from training.facts.population import SPLITS, populations


def main(arguments: Sequence[str] | None = None) -> None:
    """Write ``SPLIT.FORM.jsonl`` for each split and each form."""
    parser = argparse.ArgumentParser(description="The corpus of facts for fine-tuning")
    parser.add_argument("output", type=Path, metavar="OUTPUT_DIR")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--people", type=int, default=2_000, help="made-up people (%(default)s)")
    parser.add_argument(
        "--groups", type=int, default=1_000, help="memories of 3 to 12 facts each (%(default)s)"
    )
    parser.add_argument("--forms", nargs="+", choices=[*FORMS], default=[*FORMS], metavar="FORM")
    options = parser.parse_args(arguments)
    if options.people < 200:
        parser.error("--people must be at least 200: each split needs people of its own")
    if options.groups < 1:
        parser.error("--groups must be at least 1")
    options.output.mkdir(parents=True, exist_ok=True)
    for split, population in populations(options.seed, options.people).items():
        kinds: Counter[str] = Counter()
        with ExitStack() as files:
            written = {
                form: files.enter_context(
                    (options.output / f"{split}.{form}.jsonl").open("w", encoding="utf-8")
                )
                for form in options.forms
            }
            for example in examples(split, population, groups=options.groups, seed=options.seed):
                kinds[example.kind] += 1
                for form, file in written.items():
                    for row in FORMS[form](example):
                        file.write(f"{json.dumps(row, ensure_ascii=False)}\n")
        counted = ", ".join(f"{number:,} {kind}" for kind, number in kinds.items())
        print(f"{split}: {kinds.total():,} examples ({counted})")
    print(f"written: {options.output} ({', '.join(SPLITS)}; {', '.join(options.forms)})")


if __name__ == "__main__":
    main()
