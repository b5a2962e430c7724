"""What a ``VectorStoreRetrieverMemory`` wrote, taken apart into messages."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["exchange_messages"]


def exchange_messages(
    text: str, *, id: str, input_key: str = "input", output_key: str = "output", **update: Any
) -> list[dict[str, Any]]:
    r"""The two messages of a document "input: … output: …", for ``RecallM.update_many``: what the
    person said, and what the model answered, each with its role.

    ``id`` is that of the document; the messages get ids from it, so that a second run writes
    nothing. ``input_key`` and ``output_key`` are the names that the chain gave its input and its
    output. ``update`` are arguments of ``RecallM.update``, such as ``timestamp`` and ``session``.
    A text of another form is one update without a speaker: nothing says whose words it holds.
    Where a line of what was said begins with the name of the output, too, the answer begins at the
    first such line.

    >>> from recallm import RecallM
    >>> from langchain_recallm import exchange_messages
    >>> memory = RecallM()
    >>> text = "input: I play the cello.\noutput: Since when?"
    >>> _ = memory.update_many(exchange_messages(text, id="7", session="music"))
    >>> [(it.id, it.speaker, it.text) for it in memory.passages()]
    [('7-input', 'Human', 'I play the cello.'), ('7-output', 'AI', 'Since when?')]
    """
    pattern = (
        rf"(?:.*?\n)??{re.escape(input_key)}: (?P<asked>.*?)\n"
        rf"{re.escape(output_key)}: (?P<answered>.*)"
    )
    found = re.fullmatch(pattern, text, re.DOTALL)
    if found is None:
        return [{"text": text, "id": id, **update}]
    return [
        {"role": "user", "content": found["asked"], "id": f"{id}-input", **update},
        {"role": "assistant", "content": found["answered"], "id": f"{id}-output", **update},
    ]
