"""Plain facts of which some change: is the changed one the last word?

    python -m benchmarks.changed_facts [--subjects 2400] [--embeddings default]
        [--missed] [--json OUT]

After MQuAKE: a fact is one sentence of ``changed_facts.toml``, written as an update of its own.
First all facts are written, then half of them again with another value, each among repetitions of
facts that do not change. Each changed fact is asked for. ``last word @5``: of five recalled
statements, in the order in which they are handed over, the last one on the same subject and
relation tells the new value. ``found @5``: one of them tells it. ``--missed`` prints the contexts
where it is not the last word.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from faker import Faker

from benchmarks.report import report
from recallm import RecallM

_LIMITS = (1, 5)
_RELATIONS_EACH = 3
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class ChangedFact(NamedTuple):
    """The question for a fact, the sentence that states the fact, and the one that changes
    the fact."""

    question: str
    before: str
    now: str


def stated(subjects: int, seed: int = 1) -> tuple[list[str], list[ChangedFact]]:
    """All sentences in the order in which they are written, and the facts that change."""
    chance = random.Random(seed)
    things = _things(subjects, chance, seed)
    first, later, changed = [], [], []
    for kind, relations in _TABLES["relations"].items():
        for subject in things[kind][: subjects // len(_TABLES["relations"])]:
            drawn = chance.sample(relations, min(_RELATIONS_EACH, len(relations)))
            for statement, question, values in drawn:
                old, new = _values(things[values], subject, chance)
                before, now = (f"{statement.format(s=subject, o=value)}." for value in (old, new))
                first.append(before)
                if chance.random() < 0.5:
                    later.append(now)
                    changed.append(ChangedFact(question.format(s=subject), before, now))
    chance.shuffle(first)
    chance.shuffle(later)
    return [*first, *later], changed


def _values(names: Sequence[str], subject: str, chance: random.Random) -> tuple[str, str]:
    """Two values, the first names of a kind more often than others: some have hundreds of facts."""
    weights = [1 / place for place in range(1, len(names) + 1)]
    found: set[str] = set()
    while len(found) < 2:
        found |= {*chance.choices(names, weights)} - {subject}
    old, new = chance.sample(sorted(found), 2)
    return old, new


def last_words(memory: RecallM, changed: Sequence[ChangedFact]) -> dict[str, list[bool]]:
    """For each measure, whether it holds of each changed fact."""
    found: dict[str, list[bool]] = {}
    for limit in _LIMITS:
        for fact in changed:
            texts = [
                statement.text for statement in memory.recall(fact.question, limit=limit).statements
            ]
            on_it = [text for text in texts if text in (fact.before, fact.now)]
            found.setdefault(f"last word @{limit}", []).append(on_it[-1:] == [fact.now])
            found.setdefault(f"found @{limit}", []).append(fact.now in on_it)
    return found


def _things(number: int, chance: random.Random, seed: int) -> dict[str, list[str]]:
    faker = Faker("en_GB")
    faker.seed_instance(seed)
    names = {kind: " ".join(text.split()).split(", ") for kind, text in _TABLES["things"].items()}
    makers: dict[str, Callable[[], str]] = {
        "person": lambda: f"{faker.first_name()} {faker.last_name()}",
        "company": faker.company,
        "city": faker.city,
        "country": cast(Any, faker).country,  # it has no types
        "university": lambda: f"University of {faker.city()}",
        "work": lambda: (
            f"The {faker.word().title()} {chance.choice(('of', 'and the'))} {faker.word().title()}"
        ),
    }
    for kind, maker in makers.items():
        names[kind] = list(dict.fromkeys(maker() for _ in range(number)))
    return names


def main() -> None:
    """Tell, ask, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--subjects", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--embeddings", choices=("default",), help="without it, words alone")
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sentences, changed = stated(options.subjects, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        with RecallM(Path(folder) / "m.db", embeddings=options.embeddings) as memory:
            memory.update_many(sentences)
            found = last_words(memory, changed)
            row: dict[str, Any] = {name: sum(all_) / len(all_) for name, all_ in found.items()}
            if options.missed:
                for fact, is_last in zip(changed, found["last word @5"], strict=True):
                    if not is_last:
                        print(
                            fact, memory.recall(fact.question, limit=5).text, sep="\n", end="\n\n"
                        )
    report(f"{len(changed)} changed facts among {len(sentences)} sentences", [row], options.json)


if __name__ == "__main__":
    main()
