"""Does recall find what was said to an assistant? LongMemEval-S, beside other memories.

    python -m benchmarks.longmemeval FOLDER [--questions N] [--rows NAME,…] [--peers DIR]
        [--weights PATH] [--cache DIR] [--json OUT]

``FOLDER`` holds histories (see ``corpora``), each the chats of one user with an assistant, about
115,000 tokens, and one question. Each history is a memory of its own, each turn one knowledge
update. ``--questions`` takes a sample that has each type of question in its share, the same for
the same number; a larger sample holds a smaller one.

- session any@k, all@k: the share of questions with one session of evidence, with all of them,
  among the first k distinct sessions, best first;
- turns @k: the mean share of a question's turns of evidence among the first k distinct turns;
- stems in N: the mean share of the right answer's content-word stems (see ``evidence``) in a
  context of N tokens (characters / 4, heads counted);
- evidence stems in N: the same of those stems alone that the turns of evidence hold. An answer
  that has to be counted stands in no turn, and long advice holds most small numbers by chance;
- lines, evidence stems: the statements that ``recall`` hands over by default, and the share of the
  evidence stems in these statements;
  recallm's other columns show full contexts (``RecallConfig(fill=True)``), as its peers give them.

Questions whose answer the history does not hold (``abstention``) stand in a table of their own.

Rows are named by ``--rows``; without it all that can be run are. BM25 and MiniLM (Chroma's default
embedding, see ``minilm``) rank turns and whole sessions. ``--peers`` names a folder of virtual
environments; the peers whose environment lies there run in it (see ``outside``). Contexts of peers
are filled in both ways, with the best that fit, and with the best until the last is cut off; a row
shows the better one. Sessions are cut. ``--cache`` keeps what peers
found, and vectors: a command that was stopped goes on, and one with other weights of recallm
measures recallm alone.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from tqdm import tqdm

from benchmarks.corpora import ABSTENTION, Asked, Conversation, histories
from benchmarks.evidence import Stems, answer_stems
from benchmarks.intervals import Scores
from benchmarks.minilm import KeptVectors, chroma_mini_lm
from benchmarks.outside_peers import OUTSIDE, OutsidePeer
from benchmarks.peers import BM25, Vectors
from benchmarks.rankers import Found, Memory, Peer, Ranker
from benchmarks.rankings import WEIGHTS_HELP, Item, WeightsFor, items_of, weights_in
from benchmarks.report import machine, save, show
from recallm import RecallConfig, RecallM
from recallm.english.extractor import Extractor
from recallm.ground.untrusted_text import statement_line
from recallm.stores import open_store
from recallm.vectors import Embedding
from recallm.vectors.statements import checked_embedding

_SESSIONS = (5, 10)
_TURNS = (10, 25)
_TOKENS = (500, 1_000, 2_000, 4_000)
_CUT = ", cut"
_LINES, _STEMS, _EVIDENCE_STEMS = "lines", "stems", "evidence stems"
_WITHIN = tuple(f"{name} in {tokens}" for name in (_STEMS, _EVIDENCE_STEMS) for tokens in _TOKENS)
_COLUMNS = (
    *(f"any@{number}" for number in _SESSIONS),
    *(f"all@{number}" for number in _SESSIONS),
    *(f"turns @{number}" for number in _TURNS),
    *_WITHIN,
    _LINES,
    _EVIDENCE_STEMS,
)
_BY_TYPE = ("any@5", "all@5", "turns @10", "stems in 1000", _EVIDENCE_STEMS)
_COMPARED = ("any@5", "all@5", "turns @10", "turns @25", "stems in 1000", "stems in 4000")

RECALLM = "recallm"
EMBEDDED = "recallm-embedding"
_OURS = {RECALLM: None, EMBEDDED: "default"}
_INSIDE = ("bm25-turns", "bm25-sessions", "minilm-turns", "minilm-sessions", "minilm-said")
ROWS = (*_OURS, *_INSIDE, *OUTSIDE)

Figures = dict[str, float]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the rows, and report."""
    parser = argparse.ArgumentParser(description="LongMemEval-S beside other memories")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--questions", type=int, help="the size of a sample")
    parser.add_argument("--rows", type=_rows, default=ROWS, help=", ".join(ROWS))
    parser.add_argument("--peers", type=Path, metavar="DIR", help="of virtual environments")
    parser.add_argument("--weights", type=Path, help=WEIGHTS_HELP)
    parser.add_argument("--cache", type=Path, default=Path(".longmemeval"))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    talks = sample(list(histories(options.folder)), options.questions)
    if not talks:
        parser.error(f"{options.folder} holds no histories of LongMemEval (*.json, *.json.gz)")
    there = [row for row in OUTSIDE if options.peers and (options.peers / row).is_dir()]
    rows = [row for row in options.rows if row not in OUTSIDE or row in there]
    options.cache.mkdir(parents=True, exist_ok=True)
    weights_for = weights_in(options.weights)
    report = _report(*measure(talks, rows, options.cache, options.peers, weights_for=weights_for))
    if options.json is not None:
        save(options.json, machine=machine(), **report)


def _rows(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := [name for name in names if name not in ROWS]:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: the rows are {', '.join(ROWS)}")
    return names


def sample(talks: Sequence[Conversation], count: int | None) -> list[Conversation]:
    """``count`` of the histories, of each category its share; all where ``count`` is None."""
    of: dict[str, list[Conversation]] = {}
    for talk in talks:
        of.setdefault(str(talk.questions[0].category), []).append(talk)
    chance = Random(0)
    placed = []
    for _, same in sorted(of.items()):
        chance.shuffle(same)
        placed += [((place + 0.5) / len(same), talk.name, talk) for place, talk in enumerate(same)]
    return [talk for _, _, talk in sorted(placed, key=lambda each: each[:2])][:count]


def measure(
    talks: Sequence[Conversation],
    rows: Sequence[str],
    cache: Path,
    peers: Path | None = None,
    *,
    weights_for: WeightsFor | None = None,
) -> tuple[Scores, Scores]:
    """The scores of ``rows`` on the questions with an answer, and on those without.

    ``cache``: a folder for what peers found, and for vectors. ``peers``: the folder of the
    environments of outside peers. With ``weights_for`` recallm uses the weights for a history.
    """
    kept = _Kept(cache)
    outside = {
        row: OutsidePeer(peers / row, row, cache) for row in rows if peers and row in OUTSIDE
    }
    answerable, unanswerable = Scores(), Scores()
    for talk in tqdm(talks, desc="histories", disable=None):
        weights = None if weights_for is None else weights_for(talk.name)
        history = _History(talk, kept, outside, weights)
        kind = talk.questions[0].category
        scores = unanswerable if kind == ABSTENTION else answerable
        question = scores.question(talk.name, kind)
        for row in rows:
            for column, value in history.figures(row).items():
                scores.add(row, column, question, value)
    for peer in outside.values():
        peer.close()
    for row in answerable.rows:
        for column in _WITHIN:
            if (answerable.mean(row, column + _CUT) or 0.0) > (answerable.mean(row, column) or 0.0):
                for scores in (answerable, unanswerable):
                    scores.rename(row, column + _CUT, column)
    return answerable, unanswerable


class _Kept:
    """What stays from run to run in the folder ``cache``: what peers found, and vectors."""

    def __init__(self, cache: Path) -> None:
        self._path = cache / "figures.jsonl"
        lines = self._path.read_text("utf-8").splitlines() if self._path.exists() else []
        self._figures = {(each["row"], each["history"]): each for each in map(json.loads, lines)}
        self.extractor = Extractor(RecallConfig())
        self._cache = cache

    def figures(self, row: str, history: str, measured: Callable[[], Figures]) -> Figures:
        """What was measured of ``row``, or is measured now."""
        if (row, history) not in self._figures:
            line = {"row": row, "history": history, "figures": measured()}
            self._figures[row, history] = line
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        found: Figures = self._figures[row, history]["figures"]
        return found

    @cached_property
    def mini_lm(self) -> Embedding:
        """Chroma's default embedding."""
        path = self._cache / "minilm.db"
        return Embedding(name="MiniLM", embed=KeptVectors(chroma_mini_lm, path))

    @cached_property
    def default(self) -> Embedding:
        """Recallm's default embedding.

        Raises:
            MissingDependencyError: the extra ``embeddings`` is not installed.

        """
        embedding = checked_embedding("default")
        assert embedding is not None
        path = self._cache / "default.db"
        return Embedding(name=embedding.name, embed=KeptVectors(embedding.texts, path))


class _History:
    """One history, and the figures of any row on its question."""

    def __init__(
        self,
        talk: Conversation,
        kept: _Kept,
        outside: dict[str, OutsidePeer],
        weights: str | None = None,
    ) -> None:
        self._talk = talk
        self._weights = weights
        self._items = items_of(talk)
        self._kept = kept
        self._outside = outside
        self._stems = Stems()

    @property
    def _asked(self) -> Asked:
        return self._talk.questions[0]

    @cached_property
    def _wanted(self) -> dict[str, frozenset[str]]:
        """The stems of the right answer, and those of them that the turns of evidence hold."""
        answer = answer_stems(self._asked, self._stems)
        evidence = [item.text for item in self._items if item.id in self._asked.evidence]
        return {_STEMS: answer, _EVIDENCE_STEMS: answer & self._stems.held(evidence)}

    def _shares(self, held: frozenset[str], where: str) -> Figures:
        """The shares of the wanted stems that are held, by their columns."""
        return {
            name + where: len(wanted & held) / len(wanted)
            for name, wanted in self._wanted.items()
            if wanted
        }

    def figures(self, row: str) -> Figures:
        """Measure ``row``; of a peer, give what was measured before."""
        if row in _OURS:
            return self._of_memory(_OURS[row])
        return self._kept.figures(row, self._talk.name, lambda: self._of_peer(row))

    def _of_memory(self, embeddings: str | None) -> Figures:
        embedding = None if embeddings is None else self._kept.default
        with closing(open_store(None)[0]) as store:
            default, full = (
                RecallM(
                    store,
                    embeddings=embedding,
                    config=RecallConfig(weights=self._weights, fill=fill),
                    clock=lambda: self._asked.moment or datetime.now(UTC),
                )
                for fill in (False, True)
            )
            full.update_many(map(asdict, self._items))
            handed = default.recall(self._asked.question, asker="user")
            found = self._measured(Memory("recallm", full, asker="user"))
            chosen = self._shares(self._stems.held(each.text for each in handed.statements), "")
            found |= {_LINES: float(len(handed.statements))} | chosen
            return found

    def _of_peer(self, row: str) -> Figures:
        if row in self._outside:
            found = self._outside[row].search(self._items, self._asked.question)
            given = Peer(row, _AsGiven(len(found)))
            given.found = found
            return self._measured(given)
        ranking, _, unit = row.partition("-")
        texts = {"turns": self._turns, "sessions": self._sessions, "said": self._said}[unit]()
        peer = Peer(
            row,
            Vectors(self._kept.mini_lm)
            if ranking == "minilm"
            else BM25(self._kept.extractor.extract_many, self._kept.extractor.question),
        )
        peer.found = list(texts)
        peer.index.add([each.text for each in peer.found])
        return self._measured(peer, of_sessions=unit != "turns")

    def _turns(self) -> Iterator[Found]:
        for item in self._items:
            yield Found(item=item.id, text=f"{item.speaker}: {item.text}", line=_line(item))

    def _sessions(self) -> Iterator[Found]:
        """Each session as one text; its item are the ids of its turns, with spaces between."""
        of: dict[tuple[str, str], list[Item]] = {}
        for item in self._items:
            of.setdefault((item.id.partition(":")[0], str(item.session)), []).append(item)
        for items in of.values():
            yield Found(
                item=" ".join(item.id for item in items),
                text="\n".join(f"{item.speaker}: {item.text}" for item in items),
                line="\n".join(map(_line, items)),
            )

    def _said(self) -> Iterator[Found]:
        """Each session by what the user said in it; the whole of it is handed over."""
        texts = {item.id: item.text for item in self._items if item.speaker == "user"}
        for each in self._sessions():
            said = [texts[id] for id in each.item.split() if id in texts]
            yield replace(each, text="\n".join(said))

    def _measured(self, ranker: Ranker, *, of_sessions: bool = False) -> Figures:
        session_of = {item.id: item.session for item in self._items}
        turns = [id for each in ranker.best(self._asked.question) for id in each.item.split()]
        turns = list(dict.fromkeys(turns))
        sessions = list(dict.fromkeys(session_of[turn] for turn in turns))
        found: Figures = {}
        wanted = set(self._asked.sessions)
        for number in _SESSIONS:
            among = wanted.intersection(sessions[:number])
            found[f"any@{number}"] = float(bool(among))
            found[f"all@{number}"] = float(among == wanted)
        evidence = set(self._asked.evidence)
        if evidence and not of_sessions:
            for number in _TURNS:
                share = len(evidence.intersection(turns[:number])) / len(evidence)
                found[f"turns @{number}"] = share
        for tokens in _TOKENS:
            if not of_sessions:
                context = ranker.handed_over(self._asked.question, tokens=tokens)
                texts = [each.text for each in context.statements]
                held = self._stems.words(context.text) | self._stems.held(texts)
                found |= self._shares(held, f" in {tokens}")
            if isinstance(ranker, Peer):
                whole = "\n".join(each.line for each in ranker.best(self._asked.question))
                held = self._stems.held(whole[: tokens * 4].splitlines())
                found |= self._shares(held, f" in {tokens}" + ("" if of_sessions else _CUT))
        return found


class _AsGiven:
    """The order in which a peer gave what it found."""

    def __init__(self, count: int) -> None:
        self._count = count

    def add(self, texts: Sequence[str]) -> None:
        """Nothing is added here."""

    def order(self, question: str) -> list[int]:
        """The places, as they stand."""
        del question
        return list(range(self._count))


def _line(item: Item) -> str:
    return statement_line(item.text, speaker=item.speaker, timestamp=item.timestamp)


def _report(answerable: Scores, unanswerable: Scores) -> dict[str, Any]:
    """Print the tables."""
    written: dict[str, Any] = {}
    for title, scores in (("questions", answerable), ("without an answer", unanswerable)):
        rows = scores.rows
        columns = [each for each in _COLUMNS if any(scores.has(row, each) for row in rows)]
        if rows:
            written[title] = scores.table("memory", rows, columns)
            show(f"LongMemEval-S, {title}: {len(scores.units)}", written[title])
    kinds = Counter(map(str, answerable.kinds))
    for column in _BY_TYPE:
        written[column] = [
            {
                "memory": row,
                **{f"{kind} ({kinds[kind]})": answerable.mean(row, column, kind) for kind in kinds},
            }
            for row in answerable.rows
            if answerable.has(row, column)
        ]
        show(f"LongMemEval-S, {column} by type", written[column])
    peers = [row for row in answerable.rows if row not in _OURS]
    if peers and len(peers) < len(answerable.rows):
        written["differences"] = answerable.differences(_OURS, peers, _COMPARED)
        show("LongMemEval-S: differences and their 95 % intervals", written["differences"])
    return written


if __name__ == "__main__":
    main()
