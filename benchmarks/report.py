"""A benchmark's result: one table on the terminal, the same as JSON in a file."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

_WIDTH = 150
"""Of a line; a table takes what it needs."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of ``values`` that at least ``share`` (0 to 1) of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(len(ordered) * share * 1000) // 1000) - 1)]


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "cpu": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: _version(name) for name in ("recallm-memory", "spacy", "chromadb", "onnxruntime")},
    }


def report(title: str, rows: Sequence[dict[str, Any]], out: Path | None) -> None:
    """Print ``rows`` (the keys of the first are the heads), and write them to ``out``."""
    show(title, rows)
    found = machine()
    _console().print("  ".join(f"{name} {value}" for name, value in found.items()), highlight=False)
    if out is not None:
        save(out, title=title, machine=found, rows=rows)


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a table of ``rows``; the keys of the first are its heads."""
    table = Table(title=title, title_justify="left")
    for place, name in enumerate(rows[0]):
        table.add_column(name, justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(_shown(value) for value in row.values()))
    _console().print(table)


def save(out: Path, **content: Any) -> None:
    """Write ``content`` to ``out`` as JSON; dataclasses as mappings of their fields."""
    out.write_text(json.dumps(content, indent=2, default=asdict) + "\n", encoding="utf-8")


def _console() -> Console:
    return Console(width=_WIDTH)


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
