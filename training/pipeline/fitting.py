"""Fits one part of the pipeline to its examples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.training import Example
from thinc.api import Adam, Optimizer, compounding, fix_random_seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how fast to learn."""

    steps: int
    seed: int = 0
    learning_rate: float = 0.0015
    warm_up: int = 250
    dropout: float = 0.2
    first_batch: int = 300
    last_batch: int = 1200
    """Batches grow from `first_batch` to `last_batch` words."""


def _rates(plan: Plan) -> list[float]:
    """The rate of each step: linear warm-up, then linear decay to a fiftieth."""
    rates: list[float] = []
    for step in range(plan.steps + 1):
        if step < plan.warm_up:
            share = (step + 1) / plan.warm_up
        else:
            share = max(0.02, 1.0 - (step - plan.warm_up) / max(1, plan.steps - plan.warm_up))
        rates.append(plan.learning_rate * share)
    return rates


def _batches(examples: Iterator[Example], sizes: Iterator[float]) -> Iterator[list[Example]]:
    while True:
        size = next(sizes)
        batch: list[Example] = []
        words = 0
        while words < size:
            example = next(examples)
            batch.append(example)
            words += len(example.predicted)
        yield batch


def fit(
    nlp: Language,
    labelled: Callable[[], list[Example]],
    examples: Iterator[Example],
    plan: Plan,
    report: Callable[[str], None],
) -> None:
    """Initialise `nlp` from `labelled` and train it on the endless stream of `examples`.

    At the end the weights are the running averages of those of the last steps.
    """
    fix_random_seed(plan.seed)
    optimizer = Adam(
        learn_rate=_rates(plan),
        L2=0.01,
        L2_is_weight_decay=True,
        grad_clip=1.0,
        use_averages=True,
    )
    nlp.initialize(labelled, sgd=optimizer)
    growth = (plan.last_batch / plan.first_batch) ** (2 / plan.steps)
    sizes = iter(compounding(plan.first_batch, plan.last_batch, growth))
    batches = _batches(examples, sizes)
    losses: dict[str, float] = {}
    started = time.perf_counter()
    for step in range(1, plan.steps + 1):
        nlp.update(next(batches), drop=plan.dropout, sgd=optimizer, losses=losses)
        optimizer.step_schedules()
        if step % 250 == 0 or step == plan.steps:
            shown = ", ".join(f"{name} {loss / 250:.1f}" for name, loss in losses.items())
            report(f"step {step} of {plan.steps}, {time.perf_counter() - started:.0f} s: {shown}")
            losses = {}
    _take_averages(nlp, optimizer)


def _take_averages(nlp: Language, optimizer: Optimizer) -> None:
    averages = optimizer.averages or {}
    for name in nlp.pipe_names:
        component: Any = nlp.get_pipe(name)
        for node in component.model.walk():
            for parameter in node.param_names:
                if (node.id, parameter) in averages:
                    node.set_param(parameter, averages[node.id, parameter])
