"""What a memory holds, as its archive has it."""

from __future__ import annotations

import io
import json
from typing import Any

from recallm import RecallM

__all__ = ["passages", "said"]


def passages(memory: RecallM) -> list[dict[str, Any]]:
    """Every passage, in the order of its writing."""
    archive = io.StringIO()
    memory.export(archive)
    lines = [json.loads(line) for line in archive.getvalue().splitlines()]
    return [line["update"] for line in lines if "update" in line]


def said(memory: RecallM, session: str | None = None) -> list[tuple[str | None, str]]:
    """Who said what, in order; of one session where it is given."""
    return [
        (it.get("speaker"), it["text"])
        for it in passages(memory)
        if session is None or it.get("session") == session
    ]
