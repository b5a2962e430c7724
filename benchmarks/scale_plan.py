"""What many users need, from the costs of one operation: the arithmetic of ``benchmarks.scale``.

Bytes and processor seconds are added up; nothing else is assumed to grow. A namespace never spans
shards, and shards share nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any, Self

_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What a user does, and what a shard may carry: no figure here is measured."""

    updates_a_day: float = 20
    recalls_a_day: float = 20
    days: float = 365
    """Days for which a shard keeps an update."""
    peak: float = 4
    """The busiest hour over the mean."""
    busy: float = 0.5
    """The share of a core that may be in use at the peak."""
    shard_cores: float = 16
    """Cores of the server of a shard."""
    shard_terabytes: float = 1
    """Disk of the server of a shard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Measured: bytes an update on the server, and processor seconds an operation."""

    bytes_an_update: float
    server_update: float
    server_recall: float
    client_update: float
    client_recall: float

    @classmethod
    def read(cls, file: Path) -> Self:
        """The costs in a file of ``benchmarks.scale``: those of Neo4j at the smallest delay.

        Raises:
            SystemExit: the file has none, as the server was not started by the benchmark.
        """
        runs = json.loads(file.read_text("utf-8"))["runs"]
        known = [
            run
            for run in runs
            if run["alone"]["update server cpu ms"] is not None
            and run["row"]["bytes a statement"] is not None
        ]
        if not known:
            raise SystemExit(f"{file} has no costs of a server: measure without --uri")
        run = min(known, key=lambda each: float(each["row"]["delay ms"]))
        alone = run["alone"]
        return cls(
            bytes_an_update=run["row"]["bytes a statement"] * run["statements an update"],
            server_update=alone["update server cpu ms"] / 1000,
            server_recall=alone["recall server cpu ms"] / 1000,
            client_update=alone["update client cpu ms"] / 1000,
            client_recall=alone["recall client cpu ms"] / 1000,
        )

    def shown(self) -> dict[str, float]:
        """A row: bytes and milliseconds, and operations a second of one core."""
        return {
            "bytes an update": self.bytes_an_update,
            "server ms an update": 1000 * self.server_update,
            "server ms a recall": 1000 * self.server_recall,
            "client ms an update": 1000 * self.client_update,
            "client ms a recall": 1000 * self.client_recall,
            "updates/s a server core": 1 / self.server_update,
            "recalls/s a server core": 1 / self.server_recall,
        }


def plan(costs: Costs, users: int, habits: Habits) -> dict[str, Any]:
    """What ``users`` need at their peak: rates, bytes, cores, and shards by namespace."""
    updates = users * habits.updates_a_day * habits.peak / _DAY
    recalls = users * habits.recalls_a_day * habits.peak / _DAY
    terabytes = users * habits.updates_a_day * habits.days * costs.bytes_an_update / 1e12
    server = (updates * costs.server_update + recalls * costs.server_recall) / habits.busy
    client = (updates * costs.client_update + recalls * costs.client_recall) / habits.busy
    by_cores = ceil(server / habits.shard_cores)
    by_bytes = ceil(terabytes / habits.shard_terabytes)
    return {
        "users": users,
        "updates/s": updates,
        "recalls/s": recalls,
        "terabytes": terabytes,
        "server cores": ceil(server),
        "client cores": ceil(client),
        "shards for cores": by_cores,
        "shards for bytes": by_bytes,
        "shards": max(by_cores, by_bytes),
    }
