"""What is told in the temporal benchmark, and what is asked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import benchmarks.temporal_world
from benchmarks.temporal_world import (
    AFTER,
    AT,
    BEFORE,
    CURRENT,
    FIRST,
    LONG_RANGE,
    PREVIOUS,
    World,
    tell,
)

_SPLITS = ("dev", "check", "test")


@pytest.fixture(scope="module", params=_SPLITS)
def world(request: pytest.FixtureRequest) -> World:
    return tell(request.param)


def test_the_same_seed_tells_the_same_and_another_seed_does_not() -> None:
    world = tell("dev", seed=3)
    assert world == tell("dev", seed=3)
    assert world != tell("dev", seed=4)


def test_a_shorter_world_is_the_beginning_of_a_longer_one() -> None:
    longer, shorter = tell("dev", repetitions=4), tell("dev", repetitions=2)
    assert longer.statements[: len(shorter.statements)] == shorter.statements
    assert longer.questions[:2] == shorter.questions


def test_no_text_is_told_twice_and_each_names_its_subject(world: World) -> None:
    texts = [told.text for told in world.statements]
    assert len(set(texts)) == len(texts)
    for told in world.statements:
        assert told.subject in told.text
        assert not re.search(r"[{}]|\ba [aeio]", told.text)


def test_states_begin_in_order_and_none_is_told_before_or_after_its_time(world: World) -> None:
    latest: dict[object, int] = {}
    for told in world.statements:
        if told.topic is not None:
            before = latest.get(told.topic, -1)
            newest = told.states[-1]
            assert newest in (before, before + 1)
            assert told.states in ((newest,), (newest - 1, newest))
            latest[told.topic] = newest


def test_questions_ask_for_the_state_that_holds_the_one_before_and_the_first(
    world: World,
) -> None:
    for end, questions in zip(world.ends, world.questions, strict=True):
        told: dict[object, set[int]] = {}
        for one in world.statements[:end]:
            if one.topic is not None:
                told.setdefault(one.topic, set()).update(one.states)
        for question in questions:
            if question.kind in (BEFORE, AFTER, AT):
                assert question.state in told[question.topic]
                continue
            latest = max(told[question.topic])
            if question.kind in (CURRENT, LONG_RANGE):
                assert question.state == latest
            elif question.kind == PREVIOUS:
                assert question.state == latest - 1
            else:
                assert (question.kind, question.state) == (FIRST, 0)
                assert latest >= 2
            assert question.state in told[question.topic]


def test_two_splits_share_no_phrase_no_name_and_no_value() -> None:
    phrases = {split: _phrases(split) for split in _SPLITS}
    for one, other in combinations(_SPLITS, 2):
        shared = set(_strings(phrases[one])) & set(_strings(phrases[other]))
        assert shared <= {attribute["name"] for attribute in phrases[one]["attribute"]}, other


def _phrases(split: str) -> dict[str, Any]:
    path = Path(benchmarks.temporal_world.__file__).with_name(f"temporal_{split}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else ():
        yield from _strings(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _strings(inner)
