"""The session that an update continues: the store and the reading of the discourse agree."""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recallm import RecallM
from tests.neo4j.fixtures import RunningServer

Step = dict[str, Any]

_DAWN = datetime(2026, 3, 1, 6, tzinfo=UTC)
_MOMENTS = [_DAWN + timedelta(minutes=25 * n) for n in range(8)]
_TEXTS = (
    "Ingrid Meyer works at Acme.",
    "Tom Baker lives in Oslo.",
    "She moved to Porto.",
    "He bought a dog.",
    "The company is hiring.",
    "I will visit you in May.",
)
_IDS = st.sampled_from("abcdef")
_SOURCES = ["mail-1", "mail-2", "mail-3"]
_documents = st.fixed_dictionaries(
    {"text": st.sampled_from(_TEXTS)},
    optional={
        "id": _IDS,
        "source": st.sampled_from(_SOURCES),
        "session": st.sampled_from(["talk", "mail-1"]),
        "speaker": st.sampled_from(["Ann", "Bob"]),
        "timestamp": st.sampled_from(_MOMENTS),
    },
)
_messages = st.fixed_dictionaries(
    {
        "text": st.sampled_from(_TEXTS),
        "source": st.sampled_from(_SOURCES),
        "speaker": st.sampled_from(["Ann", "Bob"]),
        "timestamp": st.sampled_from(_MOMENTS),
    },
    optional={"id": _IDS},
)
_undated = st.fixed_dictionaries({"text": st.sampled_from(_TEXTS)}, optional={"id": _IDS})
_forgotten = st.fixed_dictionaries({"forget": _IDS})
_steps = st.lists(st.one_of(_documents, _messages, _messages, _undated, _forgotten), max_size=14)
_cuts = st.lists(st.integers(0, 13))


def _message(text: str, source: str, moment: int, **other: str) -> Step:
    return {"text": text, "source": source, "speaker": "Ann", "timestamp": _MOMENTS[moment]} | other


_THREE_MESSAGES = [
    _message("Ingrid Meyer works at Acme.", "mail-1", 0),
    _message("Tom Baker lives in Oslo.", "mail-1", 1),
    _message("She moved to Porto.", "mail-2", 2),
]
"""The second one makes "mail-1" a thread. So the third one begins a session."""
_AFTER_A_FORGET = [
    _message("Ingrid Meyer works at Acme.", "mail-1", 0),
    _message("Tom Baker lives in Oslo.", "mail-2", 1, id="a"),
    {"forget": "a"},
    _message("She moved to Porto.", "mail-3", 2),
]


def _archive(memory: RecallM, steps: list[Step], cuts: Iterable[int]) -> list[str]:
    """The archive of a memory that got ``steps``: the updates in calls that end at the places
    ``cuts``, and at each ``forget``."""
    waiting: list[Step] = []

    def write() -> None:
        if len(waiting) == 1:
            memory.update(**waiting[0])
        elif waiting:
            memory.update_many(waiting, batch_size=2)
        waiting.clear()

    for place, step in enumerate(steps):
        if "forget" in step:
            write()
            memory.forget(id=step["forget"])
            continue
        # Where an id comes again with another text, the passage is replaced.
        waiting.append({"id": f"update {place}", **step, "replace": True})
        if place in cuts:
            write()
    write()
    archive = io.StringIO()
    memory.export(archive)
    lines = archive.getvalue().splitlines()[1:]  # without the name of the namespace
    return [line.partition(',"check":')[0] for line in lines]


@pytest.fixture(scope="module")
def memories() -> Iterator[Iterator[RecallM]]:
    """Empty memories, one after the other."""
    with RecallM() as memory:
        yield (memory.in_namespace(str(number)) for number in count())


@pytest.fixture(scope="module")
def memories_on_a_server(neo4j_server: RunningServer) -> Iterator[Iterator[RecallM]]:
    with RecallM(neo4j_server.uri, auth=neo4j_server.auth) as memory:
        yield (memory.in_namespace(str(uuid.uuid4())) for _ in count())


@settings(max_examples=40)
@given(steps=_steps, cuts=_cuts)
@example(steps=_THREE_MESSAGES, cuts=[])
@example(steps=_AFTER_A_FORGET, cuts=[])
def test_any_split_into_calls_gives_the_same_memory(
    memories: Iterator[RecallM], steps: list[Step], cuts: list[int]
) -> None:
    _check(memories, memories, steps, cuts)


@pytest.mark.nightly
@settings(max_examples=2_000)
@given(steps=_steps, cuts=_cuts)
def test_any_of_many_splits_gives_the_same_memory(
    memories: Iterator[RecallM], steps: list[Step], cuts: list[int]
) -> None:
    _check(memories, memories, steps, cuts)


@settings(max_examples=2)
@given(steps=_steps, cuts=_cuts)
@example(steps=_THREE_MESSAGES, cuts=[])
@example(steps=_AFTER_A_FORGET, cuts=[])
def test_a_server_decides_as_a_file_does(
    memories: Iterator[RecallM],
    memories_on_a_server: Iterator[RecallM],
    steps: list[Step],
    cuts: list[int],
) -> None:
    _check(memories, memories_on_a_server, steps, cuts)


def _check(
    memories: Iterator[RecallM], others: Iterator[RecallM], steps: list[Step], cuts: list[int]
) -> None:
    one_by_one = _archive(next(memories), steps, range(len(steps)))
    assert _archive(next(others), steps, cuts) == one_by_one


def test_a_pronoun_stands_for_nobody_of_a_session_that_is_not_continued(
    memories: Iterator[RecallM],
) -> None:
    for steps in (_THREE_MESSAGES, _AFTER_A_FORGET):
        for calls in (1, len(steps)):
            memory = next(memories)
            _archive(memory, steps, range(calls) if calls > 1 else [])
            assert "ingrid" not in memory.history("Porto")[-1].concepts
    memory = next(memories)
    _archive(memory, [_THREE_MESSAGES[0], _THREE_MESSAGES[2]], [])
    assert "ingrid" in memory.history("Porto")[-1].concepts
