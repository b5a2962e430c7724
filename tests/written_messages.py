"""What the adapters wrote into a memory, read back from its archive."""

from __future__ import annotations

import io
import json
from typing import Any

from recallm import RecallM


def archived_passages(memory: RecallM) -> list[dict[str, Any]]:
    """Every passage as its archive line has it, in the order of writing."""
    archive = io.StringIO()
    memory.export(archive)
    lines = [json.loads(line) for line in archive.getvalue().splitlines()]
    return [line["update"] for line in lines if "update" in line]


def speakers_and_texts(memory: RecallM, session: str | None = None) -> list[tuple[str | None, str]]:
    """The speaker and the text of every passage, in the order of writing; of one session where it
    is given."""
    return [
        (passage.get("speaker"), passage["text"])
        for passage in archived_passages(memory)
        if session is None or passage.get("session") == session
    ]
