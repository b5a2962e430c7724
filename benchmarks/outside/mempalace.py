"""MemPalace: ``pip install mempalace``.

As its documentation says for conversations: each session is a JSON file of its messages, read by
``mempalace mine DIR --mode convos``; the search is ``search_memories``, which the command line and
the MCP server use, with its default settings and its default model (MiniLM). A hit is a piece of at
most 800 characters; its turns are those whose text the piece holds.
"""

from __future__ import annotations

import json
import os
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.outside.serving import DEPTH, Embed, FoundTexts, Said, serve

os.environ["MEMPALACE_EMBEDDING_DEVICE"] = "cpu"


def search(turns: list[Said], question: str, embed: Embed) -> FoundTexts:
    """What a new palace finds."""
    from mempalace.convo_miner import mine_convos
    from mempalace.embedding import get_embedding_function
    from mempalace.searcher import search_memories

    def embedded(self: object, input: list[str]) -> list[Any]:
        del self
        return list(embed(list(input)))

    model = type(get_embedding_function())
    model.__call__ = embedded  # the same model, and its vectors are kept
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        chats, palace = Path(folder, "chats"), Path(folder, "palace")
        chats.mkdir()
        sessions = {}
        for place, said in groupby(turns, key=lambda turn: turn["id"].partition(":")[0]):
            sessions[f"{place}.json"] = spoken = list(said)
            messages = [{"role": turn["role"], "content": turn["content"]} for turn in spoken]
            Path(chats, f"{place}.json").write_text(json.dumps(messages), encoding="utf-8")
        mine_convos(str(chats), str(palace), wing="chats")
        found = search_memories(question, str(palace), n_results=DEPTH)
    return [
        (turns_in(hit["text"], sessions[Path(hit["source_file"]).name]), _text(hit, sessions))
        for hit in found["results"]
    ]


def turns_in(text: str, turns: list[Said]) -> list[str]:
    """The ids of the turns of which ``text``, a piece of their session, holds a part."""
    part = _letters(text)
    session = [_letters(turn["content"]) for turn in turns]
    begin = "".join(session).find(part)
    found, start = [], 0
    for turn, letters in zip(turns, session, strict=True):
        if begin >= 0 and start < begin + len(part) and begin < start + len(letters):
            found.append(turn["id"])
        start += len(letters)
    return found


def _letters(text: str) -> str:
    """Letters and digits alone: what a piece and its session have in common."""
    return "".join(filter(str.isalnum, text))


def _text(hit: dict[str, Any], sessions: dict[str, list[Said]]) -> str:
    day = sessions[Path(hit["source_file"]).name][0]["date"][:10]
    return f"[{day}] {hit['text']}"


if __name__ == "__main__":
    serve(search)
