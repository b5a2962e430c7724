"""How long the viewer takes on a large memory: first paint, each view, a question's lit path.

    python -m benchmarks.viewer [--relations 1000000] [--db memory.db] [--questions 30] [--json OUT]

The memory is that of ``benchmarks.latency``; growing to 1,000,000 relations takes minutes, and
``--db`` keeps the file. The page is measured in an installed Chromium, from the loading of the page
to its first contentful paint and to the drawn graph, and from a question's submission to the lit
path; beside stands what ``recall`` itself takes. "as of" is half of all t.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import threading
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from tqdm import tqdm

from benchmarks.latency import milliseconds
from benchmarks.report import percentile, report
from benchmarks.statements import Talk
from recallm import RecallM
from recallm.viewer.server import Viewer
from recallm.viewer.views import MemoryViews

_STEP = 5_000
_LOADS = 10
_ASK = """question => new Promise(done => {
    const results = document.getElementById("results");
    const began = performance.now();
    const lit = () => results.querySelector(".card.lit")
        && document.getElementById("canvas")._cyreg?.cy.elements("node.statement.lit").length;
    const watch = () => lit() ? done(performance.now() - began) : requestAnimationFrame(watch);
    results.replaceChildren();
    document.getElementById("canvas")._cyreg?.cy.elements().remove();
    document.getElementById("question").value = question;
    document.getElementById("question-form").requestSubmit();
    watch();
})"""
"""Asks a question, and resolves in milliseconds when its path is lit."""
_DRAWN = """() => new Promise(done => {
    const watch = () => document.getElementById("canvas")._cyreg?.cy.nodes().length
        ? done(performance.now()) : requestAnimationFrame(watch);
    watch();
})"""
"""Resolves when a graph is drawn, in milliseconds since the page began to load."""


def grow(memory: RecallM, relations: int) -> None:
    """Add statements until there are so many relations."""
    source = islice(Talk().statements(), memory.stats().statements, None)
    with tqdm(total=relations, unit=" relations") as bar:
        while (known := memory.stats().relations) < relations:
            bar.update(known - bar.n)
            memory.update_many(islice(source, _STEP))


def timed(view: str, taken: list[float]) -> dict[str, Any]:
    """One row."""
    return {
        "view": view,
        "median ms": statistics.median(taken),
        "p95 ms": percentile(taken, 0.95),
    }


def views(memory: RecallM, questions: list[str]) -> list[dict[str, Any]]:
    """What the server takes for each view, about the concepts of most relations and about any."""
    shown = MemoryViews(memory)
    then = memory.stats().t_index // 2
    talk = Talk(seed=3)
    names = [
        row.name
        for asked in (*talk.hub_questions(20), *talk.questions(20))
        for row in memory.concepts(asked.rstrip("?").split())[:1]
    ]
    of_questions: dict[str, Callable[[str], object]] = {
        "recall itself": memory.recall,
        "question": lambda text: shown.recall(text, None, None),
        "question, as of": lambda text: shown.recall(text, None, then),
    }
    of_names: dict[str, Callable[[str], object]] = {
        "overview": lambda _: shown.overview(),
        "neighbourhood": lambda name: shown.graph(name, 24, None),
        "neighbourhood, as of": lambda name: shown.graph(name, 24, then),
        "timeline": lambda name: shown.timeline(name, 0, None),
        "timeline, as of": lambda name: shown.timeline(name, 0, then),
        "facts": lambda name: shown.facts(name, None),
        "concepts": lambda _: shown.concepts("", 0, None),
        "concepts, as of": lambda _: shown.concepts("", 0, then),
        "concepts by a part": lambda name: shown.concepts(name[:3], 0, None),
        "concepts by a part, as of": lambda name: shown.concepts(name[:3], 0, then),
    }
    return [
        timed(view, milliseconds(call, inputs))
        for calls, inputs in ((of_questions, questions), (of_names, names))
        for view, call in calls.items()
    ]


def page_times(page: Page, address: str, questions: list[str]) -> list[dict[str, Any]]:
    """First paint, the drawn graph, and a question's lit path, in the browser."""
    painted, drawn = [], []
    for _ in range(_LOADS):
        page.goto("about:blank")
        page.goto(address)
        drawn.append(page.evaluate(_DRAWN))
        painted.append(
            page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        )
    page.evaluate(_ASK, questions[0])  # warms up
    lit = [page.evaluate(_ASK, question) for question in questions]
    return [
        timed("page: first paint", painted),
        timed("page: first graph drawn", drawn),
        timed("page: question to lit path", lit),
    ]


def main() -> None:
    """Grow a memory, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--relations", type=int, default=1_000_000)
    parser.add_argument("--db", type=Path, help="keep the file here, and go on with one that is")
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("install Chromium first: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory(prefix="recallm-bench-") as folder,
        RecallM(options.db or Path(folder) / "recallm.db") as memory,
    ):
        grow(memory, options.relations)
        questions = list(dict.fromkeys(Talk(seed=1).questions(options.questions)))
        rows = views(memory, questions)
        viewer = Viewer(memory)
        threading.Thread(target=viewer.run, daemon=True).start()
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            rows += page_times(browser.new_page(), viewer.url, questions)
            browser.close()
        viewer.stop()
        size = memory.stats()
    report(
        f"The viewer at {size.statements:,} statements, {size.relations:,} relations",
        rows,
        options.json,
    )


if __name__ == "__main__":
    main()
