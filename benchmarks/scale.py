"""Many users at once: updates and recalls in namespaces of unequal size, on Neo4j and on SQLite.

    python -m benchmarks.scale [--delay 0 10] [--json scale.json]
    python -m benchmarks.scale --uri bolt://HOST:7687 --user neo4j --password-file FILE

The namespaces hold shares of statements, updates and recalls by Zipf's law: the namespace of rank r
has 1/r of the first one's. First they are filled in bulk, then one thread updates and recalls
alone, which gives the costs of an operation, then all writers and readers work together, which
gives the rates. Writers and readers are threads of several processes, never of the process with the
proxy: within one process Python runs one thread at a time, and the benchmark would measure that.
``--processes 1`` shows what a single process reaches; writers of a process may be grouped.

The proxy adds ``--delay`` milliseconds to each round trip. Without ``--uri`` a server of the tests
is started (Java, Maven), and only then bytes and the server's processor time are known. At the end
each namespace must hold each of its updates once and nothing else.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from benchmarks.report import machine, percentile, save, show
from benchmarks.scale_load import Load, Operation, Work
from recallm import RecallM
from tests.neo4j.proxy import Proxy
from tests.neo4j.server import Neo4jServer

_LONGEST = 1800.0
"""Seconds for which a phase waits for its processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a store is, and what can be known of its server."""

    name: str
    place: str
    auth: tuple[str, str] | None = None
    folder: Path | None = None
    server: Neo4jServer | None = None
    """The server, where it was started here."""


@dataclass(frozen=True, slots=True)
class _Done:
    """An operation that ended: seconds on the clock and those of the processor, the time of its
    end, and statements recalled from other namespaces."""

    is_update: bool
    seconds: float
    processor: float
    ended: float
    strays: int


def _perform(memory: RecallM, operation: Operation) -> _Done:
    owner = memory.in_namespace(operation.namespace)
    began, busy = time.perf_counter(), time.thread_time()
    strays = 0
    if operation.id is not None:
        owner.update(operation.text, id=operation.id)
    else:
        found = owner.recall(operation.text)
        strays = sum(
            not str(each.passage).startswith(f"{operation.rank}/") for each in found.statements
        )
    return _Done(
        operation.id is not None,
        time.perf_counter() - began,
        time.thread_time() - busy,
        time.time(),
        strays,
    )


def _work(
    place: str,
    auth: tuple[str, str] | None,
    threads: Sequence[Sequence[Operation]],
    barrier: Barrier,
    results: Any,
) -> None:
    """The life of a process: open, wait for the others, work in threads, report."""
    done: list[_Done] = []
    failures: list[str] = []

    def run(operations: Sequence[Operation]) -> None:
        try:
            done.extend([_perform(memory, each) for each in operations])
        except Exception as error:
            failures.append(repr(error))
            raise

    try:
        with RecallM(place, auth=auth) as memory:
            # The pipeline and the connections of all threads are there before the clock runs.
            _in_threads(lambda _: memory.recall("Who is it?"), threads)
            barrier.wait(_LONGEST)
            began = time.time()
            _in_threads(run, threads)
            barrier.wait(_LONGEST)
    except BaseException:
        barrier.abort()  # the others and the parent wait no longer
        raise
    results.put((done, began, failures))


def _in_threads(call: Callable[[Sequence[Operation]], object], shares: Sequence[Any]) -> None:
    started = [threading.Thread(target=call, args=(each,)) for each in shares]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    """What a phase showed: its operations, when it began, and the round trips and the server's
    processor seconds until its end."""

    done: list[_Done]
    began: float
    trips: int | None
    server: float | None

    def of(self, *, updates: bool) -> list[_Done]:
        return [each for each in self.done if each.is_update is updates]

    def seconds(self, *, updates: bool) -> float:
        """Until the last operation of this kind had ended."""
        return max((each.ended for each in self.of(updates=updates)), default=0.0) - self.began


def _phase(target: Target, delay: float, processes: Sequence[Sequence[Any]]) -> _Phase:
    """Run the operations of each thread of each process, at the same time."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(len(processes) + 1), context.Queue()
    with ExitStack() as open_:
        place, proxy = target.place, None
        if target.auth is not None:
            address = urlsplit(target.place)
            where = (address.hostname or "localhost", address.port or 7687)
            proxy = open_.enter_context(Proxy(where))
            place = proxy.uri
        workers = [
            context.Process(target=_work, args=(place, target.auth, each, barrier, results))
            for each in processes
        ]
        for worker in workers:
            worker.start()
            open_.callback(worker.terminate)
        if proxy is not None:
            proxy.delay = delay
        barrier.wait(_LONGEST)
        trips, server = proxy.trips if proxy else 0, _processor_time(target)
        barrier.wait(_LONGEST)
        trips, after = (proxy.trips if proxy else 0) - trips, _processor_time(target)
        reports = [results.get(timeout=_LONGEST) for _ in workers]
        for worker in workers:
            worker.join()
    if failures := [each for report in reports for each in report[2]]:
        raise SystemExit(f"{len(failures)} threads failed, the first with {failures[0]}")
    return _Phase(
        done=[each for report in reports for each in report[0]],
        began=min(report[1] for report in reports),
        trips=trips if proxy is not None else None,
        server=None if server is None or after is None else after - server,
    )


def _processor_time(target: Target) -> float | None:
    if target.server is None:
        return None
    java = next(
        each
        for each in psutil.Process().children(recursive=True)
        if each.name() == "java" and f"--home-dir={target.server.home}" in each.cmdline()
    )
    spent = java.cpu_times()
    return float(spent.user + spent.system)


def _dealt(operations: Sequence[Operation], threads: int) -> list[Sequence[Operation]]:
    return [operations[place::threads] for place in range(threads)]


def measure(target: Target, load: Load, delay: float = 0.0) -> dict[str, Any]:
    """Fill the store, run the operations, check what it holds; ``delay`` in seconds a round trip.

    The store must not hold namespaces of an earlier run.

    Raises:
        SystemExit: an update is missing or doubled, or something crossed namespaces.
    """
    # An empty store has its tables and indexes: they are not counted.
    with RecallM(target.place, auth=target.auth) as memory:
        used = [name for name in memory.namespaces() if name.startswith("scale-")]
        if any(memory.in_namespace(name).stats().passages for name in used):
            raise SystemExit("the store holds namespaces of an earlier run: erase scale-… first")
    work = Work(load)
    before = _bytes(target)
    if target.server is not None:
        target.server.start()
    with RecallM(target.place, auth=target.auth) as memory:
        memory.extract(["The pipeline is loaded."], triplets=False)
        began = time.perf_counter()
        for rank in range(1, load.namespaces + 1):
            items = [{"text": o.text, "id": o.id} for o in work.filled if o.rank == rank]
            owner = memory.in_namespace(f"scale-{rank}")
            owner.update_many(items[:-1])
            # The server has planned the queries of single calls before they count.
            for last in [each for each in work.filled if each.rank == rank][-1:]:
                owner.update(last.text, id=last.id)
                owner.recall(last.text)
        bulk = load.filled / (time.perf_counter() - began)
    updates_alone = _phase(target, delay, [[work.updates_alone]])
    recalls_alone = _phase(target, delay, [[work.recalls_alone]])
    threads = _dealt(work.updates, load.writers) + _dealt(work.recalls, load.readers)
    together = _phase(
        target, delay, [threads[at :: load.processes] for at in range(load.processes)]
    )
    statements = 0
    with RecallM(target.place, auth=target.auth) as memory:
        for name, expected in work.written().items():
            check(memory.in_namespace(name), expected)
            statements += memory.in_namespace(name).stats().statements
        strays = sum(each.strays for each in chain(recalls_alone.done, together.done))
        if strays:
            raise SystemExit(f"{strays} recalled statements are of another namespace")
    after = _bytes(target)
    return {
        "row": {
            "store": target.name,
            "delay ms": 1000 * delay,
            "updates/s": len(together.of(updates=True)) / together.seconds(updates=True),
            "recalls/s": len(together.of(updates=False)) / together.seconds(updates=False),
            **_times("update", together.of(updates=True)),
            **_times("recall", together.of(updates=False)),
            "bulk updates/s": bulk,
            "bytes a statement": (after - before) / statements
            if before is not None and after is not None
            else None,
        },
        "alone": {
            "store": target.name,
            "delay ms": 1000 * delay,
            **_costs("update", updates_alone),
            **_costs("recall", recalls_alone),
        },
    }


def check(memory: RecallM, expected: dict[str, str]) -> None:
    """Whether a namespace holds each passage of ``expected`` (id → text) once, and nothing else.

    Raises:
        SystemExit: it does not.
    """
    stored = {each.id: each.text for each in memory.passages()}
    counted = memory.stats().passages
    if stored != expected or counted != len(expected):
        raise SystemExit(
            f"{memory.namespace} holds {counted} passages of {len(expected)} written, "
            f"{len(stored.items() - expected.items())} of them of others"
        )


def _times(name: str, done: Sequence[_Done]) -> dict[str, float]:
    spent = [1000 * each.seconds for each in done]
    return {f"{name} p50 ms": percentile(spent, 0.5), f"{name} p95 ms": percentile(spent, 0.95)}


def _costs(name: str, phase: _Phase) -> dict[str, float | None]:
    count = len(phase.done)
    return {
        f"{name} p50 ms": percentile([1000 * each.seconds for each in phase.done], 0.5),
        f"{name} trips": None if phase.trips is None else phase.trips / count,
        f"{name} client cpu ms": 1000 * sum(each.processor for each in phase.done) / count,
        f"{name} server cpu ms": None if phase.server is None else 1000 * phase.server / count,
    }


def _bytes(target: Target) -> int | None:
    """What the store takes on disk, without logs of transactions. A server of ours is stopped for
    this: only then all of it lies in files."""
    if target.folder is None:
        return None
    if target.server is not None:
        target.server.stop()
    return sum(file.stat().st_size for file in target.folder.rglob("*") if file.is_file())


@contextmanager
def _own_server() -> Iterator[Target]:
    """A server of the tests, empty."""
    with Neo4jServer() as server:
        yield Target(
            name="Neo4j",
            place=server.bolt_uri,
            auth=server.auth,
            folder=server.home / "data" / "databases" / "neo4j",
            server=server,
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    for name in ("writers", "readers", "processes", "namespaces", "filled", "updates", "recalls"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Load(), name))
    parser.add_argument("--alone", type=int, default=Load().alone)
    parser.add_argument("--zipf", type=float, default=Load().zipf, help="exponent of the law")
    parser.add_argument("--seed", type=int, default=Load().seed)
    parser.add_argument("--delay", type=float, nargs="+", default=[0, 10], help="milliseconds")
    parser.add_argument("--uri", help="a server; its namespaces scale-… are erased after each run")
    parser.add_argument("--user", default="neo4j")
    parser.add_argument("--password-file", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    load = Load(**{name: getattr(options, name) for name in Load.__slots__})
    with tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder:
        file = Path(folder) / "recallm.db"
        found = [measure(Target(name="SQLite", place=str(file), folder=Path(folder)), load)]
    found += [_on_neo4j(options, load, delay / 1000) for delay in options.delay]
    title = (
        f"{load.writers} writers and {load.readers} readers in {load.processes} processes, "
        f"{load.filled:,} updates before in {load.namespaces:,} namespaces"
    )
    show(title, [each["row"] for each in found])
    show("One thread alone: the costs of an operation", [each["alone"] for each in found])
    show("Machine", [machine()])
    if options.json is not None:
        save(options.json, title=title, machine=machine(), load=load, runs=found)


def _on_neo4j(options: argparse.Namespace, load: Load, delay: float) -> dict[str, Any]:
    if options.uri is None:
        with _own_server() as target:
            return measure(target, load, delay)
    if options.password_file is None:
        raise SystemExit("--uri needs --password-file FILE")
    auth = (options.user, options.password_file.read_text("utf-8").strip())
    target = Target(name="Neo4j", place=options.uri, auth=auth)
    try:
        return measure(target, load, delay)
    finally:
        with RecallM(options.uri, auth=auth) as memory:
            for rank in range(1, load.namespaces + 1):
                memory.erase_namespace(f"scale-{rank}")


if __name__ == "__main__":
    main()
