"""The forms in which tools for fine-tuning take examples: rows of JSON Lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from training.facts.examples import Example

Row: TypeAlias = dict[str, Any]


def _segments(example: Example) -> Iterator[Row]:
    """The whole text as in the paper, with the segments that have the loss: ``label``."""
    yield {
        "segments": [{"text": text, "label": is_learned} for text, is_learned in example.segments],
        "kind": example.kind,
    }


def _prompts(example: Example) -> Iterator[Row]:
    """One row for each segment with the loss: all that stands before it, and the segment."""
    for prompt, completion in _pairs(example):
        yield {"prompt": prompt, "completion": completion}


def _chats(example: Example) -> Iterator[Row]:
    """The same as messages. ``FactChat`` asks a chat model in this way."""
    for prompt, completion in _pairs(example):
        yield {
            "messages": [
                {"role": "user", "content": prompt},
                {"role": "assistant", "content": completion},
            ]
        }


def _pairs(example: Example) -> Iterator[tuple[str, str]]:
    before = ""
    for text, is_learned in example.segments:
        if is_learned:
            yield before, text
        before += text


FORMS: Final[Mapping[str, Callable[[Example], Iterator[Row]]]] = {
    "segments": _segments,
    "prompt": _prompts,
    "chat": _chats,
}
"""Each form's name, and how it writes an example."""
