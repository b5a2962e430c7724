"""The operations of ``benchmarks.scale``: seeded, the same for each store."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, islice

from benchmarks.statements import Talk


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is asked of a store: counts in all namespaces together."""

    writers: int = 8
    readers: int = 8
    processes: int = 2
    namespaces: int = 50
    filled: int = 5_000
    updates: int = 400
    recalls: int = 400
    alone: int = 60
    """Updates, and as many recalls, of the thread that is alone."""
    zipf: float = 1.0
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An update (its passage has this ``id``) or a recall, in the namespace of a rank from 1."""

    rank: int
    text: str
    id: str | None = None

    @property
    def namespace(self) -> str:
        """The name of the namespace."""
        return f"scale-{self.rank}"


def shares(namespaces: int, total: int, zipf: float) -> list[int]:
    """``total`` dealt out to ranks by Zipf's law; what rounding leaves goes to the largest
    remainders."""
    weights = [(rank + 1) ** -zipf for rank in range(namespaces)]
    exact = [total * weight / sum(weights) for weight in weights]
    dealt = [int(share) for share in exact]
    by_remainder = sorted(range(namespaces), key=lambda rank: dealt[rank] - exact[rank])
    for rank in by_remainder[: total - sum(dealt)]:
        dealt[rank] += 1
    return dealt


class Work:
    """The operations of a run: the same for each store."""

    def __init__(self, load: Load) -> None:
        talk = Talk(load.seed)
        source = talk.statements()
        chance = random.Random(load.seed)
        numbers: defaultdict[int, int] = defaultdict(int)

        def updates(count: int) -> list[Operation]:
            found = []
            for rank, share in enumerate(shares(load.namespaces, count, load.zipf), start=1):
                for text in islice(source, share):
                    numbers[rank] += 1
                    found.append(Operation(rank=rank, text=text, id=f"{rank}/{numbers[rank]}"))
            return found

        def recalls(count: int) -> list[Operation]:
            dealt = shares(load.namespaces, count, load.zipf)
            ranks = [rank for rank, share in enumerate(dealt, start=1) for _ in range(share)]
            return [
                Operation(rank=rank, text=text)
                for rank, text in zip(ranks, talk.questions(count), strict=True)
            ]

        self.filled = updates(load.filled)
        self.updates_alone, self.recalls_alone = updates(load.alone), recalls(load.alone)
        self.updates, self.recalls = updates(load.updates), recalls(load.recalls)
        for each in (self.updates_alone, self.recalls_alone, self.updates, self.recalls):
            chance.shuffle(each)

    def written(self) -> dict[str, dict[str, str]]:
        """Namespace → id → text, of all that a run writes."""
        found: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for each in chain(self.filled, self.updates_alone, self.updates):
            found[each.namespace][str(each.id)] = each.text
        return dict(found)
