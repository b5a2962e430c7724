"""Memories of others, each in a process of a virtual environment of its own (see ``outside``)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

from benchmarks.rankers import Found
from benchmarks.rankings import Item

OUTSIDE = ("mem0", "mempalace", "langmem", "llama_index")


class OutsidePeer:
    """The memory ``name`` in the virtual environment ``environment``, in a process of its own."""

    def __init__(self, environment: Path, name: str, cache: Path) -> None:
        self._name = name
        self._process = subprocess.Popen(
            [
                environment.absolute() / "bin" / "python",
                *("-m", f"benchmarks.outside.{name}"),
                (cache / "minilm.db").absolute(),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )

    def search(self, items: Sequence[Item], question: str) -> list[Found]:
        """What a new memory of ``items`` finds, best first; an item that holds several turns has
        their ids, with spaces between.

        Raises:
            ChildProcessError: the runner failed; its own error stands on the terminal.

        """
        history = {
            "question": question,
            "turns": [
                {
                    "id": item.id,
                    "role": item.speaker,
                    "content": item.text,
                    "session": item.session,
                    "date": item.timestamp and item.timestamp.isoformat(),
                }
                for item in items
            ],
        }
        sent, received = cast(IO[str], self._process.stdin), cast(IO[str], self._process.stdout)
        sent.write(json.dumps(history) + "\n")
        sent.flush()
        line = received.readline()
        if not line:
            raise ChildProcessError(f"{self._name} ended with {self._process.wait()}")
        return [
            Found(item=" ".join(turns), text=text, line=text) for turns, text in json.loads(line)
        ]

    def close(self) -> None:
        """End the process."""
        cast(IO[str], self._process.stdin).close()
        self._process.wait()
        cast(IO[str], self._process.stdout).close()
