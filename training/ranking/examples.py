"""Questions with their candidates, measured: what the weights are fitted on.

A unit is a conversation, a film or a generated world: what is left out together. Each question has
the statements that answer it in groups: for each turn of evidence its statements, for a film those
that hold an answer word for word, for a generated world those that tell the state asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import conversations, films
from benchmarks.temporal_world import CURRENT, tell
from recallm import RecallM
from recallm.recall.ranking.candidates import Candidates
from recallm.recall.request import RecallRequest
from recallm.recall.retrieval.candidates import read_candidates

Groups = tuple[NDArray[np.intp], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """``items`` are arguments of ``update``; ``questions`` say which of ``candidates`` answer."""

    kind: str
    name: str
    items: tuple[Mapping[str, object], ...]
    questions: tuple[tuple[str, Callable[[Candidates], Groups], int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question: its candidates, the groups of those that answer (by place) and how many groups
    there are in all, found or not. ``candidates`` is None where nothing of it is known."""

    kind: str
    unit: str
    candidates: Candidates | None
    groups: Groups
    wanted: int


def units_of(
    locomo: Path | None, realtalk: Path | None, duorc: Path | None, *, plots: int, worlds: int
) -> Iterator[Unit]:
    """The units of each data set that is given, and ``worlds`` generated worlds."""
    for kind, folder in (("LoCoMo", locomo), ("REALTALK", realtalk)):
        for talk in conversations(folder) if folder is not None else ():
            yield Unit(
                kind=kind,
                name=talk.name,
                items=tuple(
                    {
                        "id": turn.id,
                        "text": turn.text,
                        "speaker": turn.speaker,
                        "timestamp": turn.timestamp,
                        "session": turn.session,
                    }
                    for turn in talk.turns
                    if turn.text.strip()
                ),
                questions=tuple(
                    (
                        asked.question,
                        _of_passages([{id} for id in asked.evidence]),
                        len(asked.evidence),
                    )
                    for asked in talk.questions
                ),
            )
    for film in films(duorc, plots) if duorc is not None else ():
        yield Unit(
            kind="DuoRC",
            name=film.name,
            items=({"text": film.plot, "source": film.name},),
            questions=tuple(
                (asked.question, _holding(asked.answers), 1) for asked in film.questions
            ),
        )
    for seed in range(1, worlds + 1):
        yield _world(seed)


def _world(seed: int) -> Unit:
    world = tell("dev", seed=seed)
    questions = []
    for asked in world.questions[-1]:
        told = [
            str(place)
            for place, one in enumerate(world.statements)
            if one.topic == asked.topic
            and (
                one.states[-1] == asked.state
                if asked.kind == CURRENT
                else asked.state in one.states
            )
        ]
        questions.append((asked.text, _of_passages([set(told)]), 1))
    return Unit(
        kind="Temporal",
        name=f"world {seed}",
        items=tuple(
            {"id": str(place), "text": one.text} for place, one in enumerate(world.statements)
        ),
        questions=tuple(questions),
    )


def asked_of(unit: Unit, embeddings: object) -> list[Asked]:
    """The unit as a memory, and its questions put to it."""
    found = []
    with RecallM(embeddings=embeddings) as memory:
        memory.update_many(unit.items)
        for text, answering, wanted in unit.questions:
            candidates = candidates_of(memory, text)
            groups = () if candidates is None else answering(candidates)
            found.append(
                Asked(
                    kind=unit.kind,
                    unit=unit.name,
                    candidates=candidates,
                    groups=tuple(group for group in groups if len(group)),
                    wanted=wanted,
                )
            )
    return found


def candidates_of(memory: RecallM, text: str) -> Candidates | None:
    """The candidates of a question; None where nothing of the question is known."""
    request = RecallRequest(question=text, config=memory.config)
    with memory._opened.recaller.opened(request) as opened:
        return read_candidates(opened.reader, opened.question, opened.vector, request)


def _of_passages(groups: Sequence[set[str]]) -> Callable[[Candidates], Groups]:
    def answering(candidates: Candidates) -> Groups:
        ids = [one.passage_id for one in candidates.statements]
        return tuple(_places([id in group for id in ids]) for group in groups)

    return answering


def _holding(answers: Sequence[str]) -> Callable[[Candidates], Groups]:
    def answering(candidates: Candidates) -> Groups:
        texts = [one.text.lower() for one in candidates.statements]
        return (_places([any(a.lower() in text for a in answers) for text in texts]),)

    return answering


def _places(chosen: Sequence[bool]) -> NDArray[np.intp]:
    return np.flatnonzero(np.array(chosen, dtype=bool))
