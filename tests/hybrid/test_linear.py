"""Long texts of what repeats: the time that they take grows with their length alone."""

from __future__ import annotations

import time

import pytest

from recallm import LLMError
from recallm.hybrid import LLMDiscriminator, TrainedDiscriminator
from recallm.hybrid.features import plain_answer, refusal_start

LENGTH = 10_000
LIMIT = 3.0
"""Seconds for all fragments together: each takes milliseconds where the time is linear, and what is
not linear takes minutes."""

FRAGMENTS = (
    "'", "`", "’", ":", "\"", "(", "_", "-", ".", " ", "\t", "\n", "\u3000", "a", "1", "é", "ﷺ",
    "'a", "a'", "a'a", "a_", "a.", "a-", "not '", "not a'", "no 'a'a'a", "n't", "'n't", "not ",
    "not:::", "isn't '", "lacks '", "lack''", "unclear ", "unclear:", "i not ", "i can't a ",
    "the text ", "no a", "please ", "as a ", "sorry ", "? ", "\nsources", "\nsources ",
    "let me know ", "let me know\n", "(let me know", "based on the ", "answer ", "answer is",
    "answer is:", "best answer ", "</think>", "<think>1</think>", "1 ", "1,", "the ", ": ", ":\n",
    " - ", "- ", "isn't ", "*", "[", "1.",
)  # fmt: skip
BEFORE = ("", "not", "Not a", "lacks", "1", "answer is", "The best answer is", "sources", "is", "i")
AFTER = ("", "x", "!", "\nx", "mention", "1")


def texts() -> list[str]:
    """One of fragments, with something before and after it that may begin or end a pattern."""
    bare = [fragment * (LENGTH // len(fragment)) for fragment in FRAGMENTS]
    framed = [
        BEFORE[place % len(BEFORE)] + text + AFTER[place % len(AFTER)]
        for place, text in enumerate(bare)
    ]
    runs = [run * (LENGTH // len(run)) for run in ("'", "`", ":", "'a", " a'")]
    begun = [before + run for before in BEFORE for run in runs]
    return bare + framed + begun


def refuse(text: str) -> None:
    refusal_start(text.lower())


def strip(text: str) -> None:
    assert len(plain_answer(text)) <= LENGTH


def choose(text: str) -> None:
    assert TRAINED.choose("Who is Bo?", {"a": text, "b": "Bo is a cat."}).name in ("a", "b")
    assert TRAINED.choose(text, {"a": "Bo.", "b": "Ann."}).name in ("a", "b")


def reply(text: str) -> None:
    discriminator = LLMDiscriminator(lambda _: text)
    try:
        named = discriminator.choose("Who is Bo?", {"a": "Bo.", "b": "Ann."}).name
    except LLMError:  # most of these name no answer
        return
    assert named in ("a", "b")


TRAINED = TrainedDiscriminator()


@pytest.mark.slow
def test_no_text_takes_long() -> None:
    for read in (refuse, strip, choose, reply):
        read("Bo is a cat.")
        started = time.thread_time()  # others may use the machine too
        for text in texts():
            read(text)
            assert time.thread_time() - started < LIMIT, (read, text[:40])
