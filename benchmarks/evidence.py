"""Does recall find what answers a question? Conversations with evidence, and film plots.

    python -m benchmarks.evidence --locomo FOLDER --realtalk FOLDER --duorc FILE [--vectors]

Conversations, each a memory, one turn one knowledge update: evidence recall@k is the mean over
all questions that have evidence of the share of its turns among the first k distinct turns by
score; and the same within 1,000 tokens of context (characters / 4, marks and prefix counted).
Films, each a memory: the share of the questions whose answer stands in the context, word for
word, at 100 to 800 tokens, over the questions whose answer stands in the plot.

Peers rank whole turns (``speaker: text``), or the same sentences of a plot, and fill the tokens
with the best that fit, under the same first line. Where nothing of a question is known they give
anything; recallm gives nothing. The paper ranks concepts, not statements: for evidence recall@k
its contexts are read concept by concept, best first, the newest statement of each first.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from tqdm import tqdm

from benchmarks.corpora import Conversation, Film, conversations, films
from benchmarks.peers import BM25, Index, Vectors
from benchmarks.rankings import default_embedding
from benchmarks.report import machine, report
from recallm import RecallConfig, RecalledContext, RecalledStatement, RecallM
from recallm.extraction import Extractor
from recallm.retrieval.lines import PREFIX
from recallm.stores.opening import open_store

_TURNS = (5, 10, 25, 50)
_TOKENS = 1_000
_FILM_TOKENS = (100, 200, 400, 800)
_DEEP = 400
"""Statements recalled to find the first 50 distinct turns."""

_STATEMENTS = "recallm, statements"
_PAPER = "recallm, as in the paper"

Scores = dict[str, list[float]]
Peer = tuple[str, Callable[[], Index]]
Unit = TypeVar("Unit", Conversation, Film)


def main() -> None:
    """Measure every data set that is there, and report."""
    parser = argparse.ArgumentParser(description="Evidence recall, and answers in the context")
    parser.add_argument("--locomo", type=Path, help="a folder of LoCoMo conversations")
    parser.add_argument("--realtalk", type=Path, help="a folder of REALTALK conversations")
    parser.add_argument("--duorc", type=Path, help="film plots and questions, JSON Lines (.gz)")
    parser.add_argument("--films", type=int, default=120, help="so many of them")
    parser.add_argument("--vectors", action="store_true", help="MiniLM beside (Chroma's default)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    extractor = Extractor(RecallConfig())
    peers: list[Peer] = [
        ("BM25, content-word stems", lambda: BM25(extractor.extract_many, extractor.question))
    ]
    if options.vectors and (embedding := default_embedding()) is not None:
        peers.append(("MiniLM vectors", lambda: Vectors(embedding)))
    rows: list[dict[str, Any]] = []
    for title, path in (("LoCoMo", options.locomo), ("REALTALK", options.realtalk)):
        if _is_there(title, path):
            talks = list(conversations(path))
            found = _measured(title, talks, lambda talk: measure_talk(talk, peers))
            rows += _report(f"{title}: recall of evidence", found)
    if _is_there("DuoRC", options.duorc):
        plots = films(options.duorc, options.films)
        found = _measured("DuoRC", plots, lambda film: measure_film(film, peers))
        rows += _report("DuoRC: the answer stands in the context", found)
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2))


def _report(title: str, found: dict[str, dict[str, float]]) -> list[dict[str, Any]]:
    rows = [{"ranking": name, **columns} for name, columns in found.items()]
    report(title, rows, None)
    return [{"measure": title, **row} for row in rows]


def measure_talk(talk: Conversation, peers: Sequence[Peer]) -> dict[str, Scores]:
    """Evidence recall of each ranking, a value for each question."""
    result: dict[str, Scores] = {}
    turns = [turn for turn in talk.turns if turn.text.strip()]
    with _memories() as memories:
        memories[_STATEMENTS].update_many(
            {
                "id": turn.id,
                "text": turn.text,
                "speaker": turn.speaker,
                "timestamp": turn.timestamp,
                "session": turn.session,
            }
            for turn in turns
        )
        for name, memory in memories.items():
            scores: Scores = defaultdict(list)
            for asked in talk.questions:
                question, evidence = asked.question, asked.evidence
                order = _passages(memory.recall(question, limit=_DEEP))
                within = _passages(memory.recall(question, max_tokens=_TOKENS))
                _score(scores, evidence, order, within)
            result[name] = scores
    texts = [f"{turn.speaker}: {turn.text}" for turn in turns]
    for peer_name, peer in peers:
        index = peer()
        index.add(texts)
        scores = defaultdict(list)
        for asked in talk.questions:
            question, evidence = asked.question, asked.evidence
            places = index.order(question)
            within = [turns[place].id for place in _filled(places, texts, _TOKENS)]
            _score(scores, evidence, [turns[place].id for place in places], within)
        result[peer_name] = scores
    return result


def measure_film(film: Film, peers: Sequence[Peer]) -> dict[str, Scores]:
    """Whether the answer stands in the context of each ranking, a value for each question."""
    result: dict[str, Scores] = {}
    with _memories() as memories:
        memories[_STATEMENTS].update(film.plot, source=film.name)
        for name, memory in memories.items():
            scores: Scores = defaultdict(list)
            for asked in film.questions:
                question, answers = asked.question, asked.answers
                for tokens in _FILM_TOKENS:
                    found = memory.recall(question, max_tokens=tokens).statements
                    texts = [statement.text for statement in found]
                    scores[f"{tokens} tokens"].append(_holds(texts, answers))
            result[name] = scores
    sentences = [
        film.plot[statement.start : statement.end]
        for statement in Extractor(RecallConfig()).extract(film.plot).statements
    ]
    for peer_name, peer in peers:
        index = peer()
        index.add(sentences)
        scores = defaultdict(list)
        for asked in film.questions:
            question, answers = asked.question, asked.answers
            places = index.order(question)
            for tokens in _FILM_TOKENS:
                texts = [sentences[place] for place in _filled(places, sentences, tokens)]
                scores[f"{tokens} tokens"].append(_holds(texts, answers))
        result[peer_name] = scores
    return result


@contextmanager
def _memories() -> Iterator[dict[str, RecallM]]:
    """Both rankings over one embedded store."""
    store = open_store(None, auth=None, database=None)[0]
    try:
        yield {
            _STATEMENTS: RecallM(store),
            _PAPER: RecallM(store, config=RecallConfig(ranking="paper", max_concepts=_DEEP)),
        }
    finally:
        store.close()


def _passages(context: RecalledContext) -> list[str]:
    """The distinct passages of a context, best first: by score, or by the paper's order, that is
    by concept, and the newest statement of a concept first."""
    places = {concept.name: place for place, concept in enumerate(context.concepts)}
    last = len(places)

    def rank(statement: RecalledStatement) -> tuple[float, int]:
        if statement.score is not None:
            return -statement.score, -statement.t_index
        return min((places.get(c, last) for c in statement.concepts), default=last), -(
            statement.t_index
        )

    ordered = sorted(context.statements, key=rank)
    return list(dict.fromkeys(statement.id.rpartition("#")[0] for statement in ordered))


def _score(
    scores: Scores, evidence: Sequence[str], order: Sequence[str], within: Sequence[str]
) -> None:
    wanted = set(evidence)
    for turns in _TURNS:
        scores[f"@{turns}"].append(len(wanted & set(order[:turns])) / len(wanted))
    scores[f"{_TOKENS} tokens"].append(len(wanted & set(within)) / len(wanted))


def _filled(places: Sequence[int], texts: Sequence[str], tokens: int) -> list[int]:
    """The best of ``places`` that fit, a line each."""
    kept: list[int] = []
    room = tokens * 4 - len(PREFIX) - 1
    for place in places:
        if len(texts[place]) + 1 <= room:
            room -= len(texts[place]) + 1
            kept.append(place)
    return kept


def _holds(texts: Sequence[str], answers: Sequence[str]) -> float:
    return float(any(answer.lower() in text.lower() for answer in answers for text in texts))


def _measured(
    title: str, units: Sequence[Unit], measure: Callable[[Unit], dict[str, Scores]]
) -> dict[str, dict[str, float]]:
    """The mean over all questions of all units, for each ranking."""
    together: dict[str, Scores] = defaultdict(lambda: defaultdict(list))
    for unit in tqdm(units, desc=title, leave=False):
        for name, scores in measure(unit).items():
            for column, values in scores.items():
                together[name][column] += values
    return {
        name: {column: fmean(values) for column, values in scores.items()}
        for name, scores in together.items()
    }


def _is_there(title: str, path: Path | None) -> bool:
    if path is None or not path.exists():
        why = "no path was given" if path is None else f"{path} does not exist"
        print(f"{title} is passed over: {why}")
        return False
    return True


if __name__ == "__main__":
    main()
