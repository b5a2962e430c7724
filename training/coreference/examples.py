"""Examples: for each anaphor its candidates' features, and which candidates are right."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recallm.english.coreference.discourse import Candidate, Referent
from recallm.english.coreference.features import Row
from recallm.english.coreference.passage import TextRead
from recallm.english.coreference.resolving import Decision, decisions
from recallm.model import ConceptMention
from training.coreference.gap import GapText, name_tokens, tokens_of
from training.coreference.gum import Document, Mention, Passage
from training.coreference.reading import read_texts
from training.coreference.sessions import Turn, is_meant

_MOST_EARLIER = 6


class Example(NamedTuple):
    """An anaphor: its kind, the features of "none" and of its candidates (rows), which rows are
    right, and which group it is of (for folds)."""

    kind: str
    rows: Sequence[Row]
    right: NDArray[np.bool_]
    group: str


def undecided(_: Decision) -> Referent | None:
    """How the anaphors before the one that is asked for are decided: they have no antecedent."""
    return None


def _labelled(decision: Decision, right: Sequence[bool], group: str) -> Example:
    """The example of a decision whose right candidates are known; "none" is right without one."""
    return Example(
        decision.anaphor.kind,
        decision.rows,
        np.array([not any(right), *right], dtype=np.bool_),
        group,
    )


def _first_right(decision: Decision, right: Sequence[bool]) -> Referent | None:
    return decision.candidates[right.index(True)][0] if any(right) else None


def gap_example(text: GapText, decision: Decision) -> Example | None:
    """The example of a text of GAP; None if the right name is no candidate. If neither of the two
    names is right, any other row may be."""
    referents = [decision.discourse.referents[place] for place in text.names]
    candidates = [referent for referent, _ in decision.candidates]
    rows = [
        candidates.index(referent) + 1 if referent in candidates else None for referent in referents
    ]
    return _gap_example(text, decision, rows)


def cut_gap_examples(texts: Sequence[GapText], *, seed: int) -> list[Example | None]:
    """The same texts cut into passages of whole sentences by chance, the pronoun in the last one,
    as in a session; None where no cut is possible, or the right name is no candidate."""
    chance = random.Random(seed)
    cuts: list[list[int]] = []
    for text in texts:
        read = text.read
        starts = [
            read.starts[read.sentence_starts[i]] for i in range(1, read.sentence_of(text.token) + 1)
        ]
        always = chance.choice(starts) if starts else None
        cuts.append([start for start in starts if start == always or chance.random() < 0.5])
    pieces = iter(
        read_texts(
            [
                text.read.text[first:last].rstrip()
                for text, own in zip(texts, cuts, strict=True)
                if own
                for first, last in pairwise([0, *own, len(text.read.text)])
            ]
        )
    )
    return [
        _cut_example(text, own, [next(pieces) for _ in range(len(own) + 1)]) if own else None
        for text, own in zip(texts, cuts, strict=True)
    ]


def _cut_example(text: GapText, cuts: Sequence[int], pieces: Sequence[TextRead]) -> Example | None:
    offsets = [0, *cuts]
    words: list[frozenset[str]] = []
    spans: list[list[tuple[int, int]]] = [[] for _ in pieces]
    for place in text.names:
        name = text.read.names[place]
        start, end = _characters(text.read, name.first, name.last)
        piece = bisect_right(offsets, start) - 1
        start -= offsets[piece]
        span = tokens_of(pieces[piece], start, text.read.text[start + offsets[piece] : end])
        spans[piece].append(span)
        words.append(frozenset(name.place.concept.name.split()))
    for read, named in zip(pieces, spans, strict=True):
        name_tokens(read, named)
    token = tokens_of(pieces[-1], text.read.starts[text.token] - offsets[-1], text.pronoun)[0]
    for decision in decisions(pieces[-1], pieces[:-1], undecided):
        if decision.anaphor.token == token:
            rows = [
                next(
                    (
                        row
                        for row, (referent, _) in enumerate(decision.candidates, start=1)
                        if own and (own <= referent.words or referent.words <= own)
                    ),
                    None,
                )
                for own in words
            ]
            return None if rows[0] == rows[1] else _gap_example(text, decision, rows)
    return None


def _gap_example(text: GapText, decision: Decision, named: Sequence[int | None]) -> Example | None:
    """The example of a decision; ``named`` are the rows of A and B."""
    right = np.zeros(len(decision.rows), dtype=np.bool_)
    if any(text.answers):
        for place, answer in zip(named, text.answers, strict=True):
            if answer and place is not None:
                right[place] = True
    else:
        right[:] = True
        right[[place for place in named if place is not None]] = False
    if not right.any():
        return None
    return Example(decision.anaphor.kind, decision.rows, right, text.page)


def gum_examples(documents: Sequence[Document], *, seed: int) -> list[Example]:
    """The examples of GUM's documents. A paragraph is a passage, or is cut into passages of a few
    sentences by chance, as conversations and notes have them."""
    chance = random.Random(seed)
    cut = [(document.name, [*_cut(document.passages, chance)]) for document in documents]
    texts = iter(read_texts([passage.text for _, passages in cut for passage in passages]))
    examples: list[Example] = []
    for name, passages in cut:
        read = [_spoken(next(texts), passage.speaker) for passage in passages]
        examples.extend(_of_document(name, passages, read))
    return examples


def session_examples(sessions: Sequence[Sequence[Turn]], *, copies: int) -> list[Example]:
    """The examples of annotated sessions: templates in order, ``copies`` times. Anaphors without an
    annotation are left out."""
    found: list[Example] = []
    templates = len(sessions) // copies
    for i, session in enumerate(sessions):
        for place, turn in enumerate(session):

            def choose(decision: Decision, turn: Turn = turn, i: int = i) -> Referent | None:
                anaphor = decision.anaphor
                span = _characters(turn.read, anaphor.token, anaphor.token + 1)
                name = turn.antecedents.get(span)
                if name is None:
                    return None
                right = [_is_named(candidate, name) for candidate in decision.candidates]
                found.append(_labelled(decision, right, f"template {i % templates}"))
                return _first_right(decision, right)

            earlier = [before.read for before in session[max(0, place - _MOST_EARLIER) : place]]
            for _ in decisions(turn.read, earlier, choose):
                pass
    return found


def _is_named(candidate: Candidate, name: str) -> bool:
    """Whether a candidate bears the name of the antecedent."""
    referent, _ = candidate
    labels = [mention.label for mention, *_ in referent.spelled.values()]
    return bool(labels) and is_meant(labels[0], name)


def _spoken(text: TextRead, speaker: str) -> TextRead:
    if speaker:
        text.speaker = ConceptMention(name=f"speaker {speaker.lower()}", label=speaker, kind="name")
    return text


def _cut(passages: Sequence[Passage], chance: random.Random) -> Iterator[Passage]:
    for passage in passages:
        if chance.random() < 0.5:
            yield passage
            continue
        starts = passage.sentence_starts
        first = 0
        while first < len(starts):
            last = min(len(starts), first + chance.choice((1, 1, 2, 3)))
            start = starts[first]
            end = starts[last] if last < len(starts) else len(passage.text)
            yield Passage(
                text=passage.text[start:end].rstrip(),
                speaker=passage.speaker,
                mentions=[
                    Mention(mention.referent, *(place - start for place in mention[1:]))
                    for mention in passage.mentions
                    if start <= mention.start < end
                ],
            )
            first = last


def _of_document(
    name: str, passages: Sequence[Passage], read: Sequence[TextRead]
) -> Iterator[Example]:
    meanings: dict[int, tuple[Passage, TextRead]] = {
        id(place): (passage, text)
        for passage, text in zip(passages, read, strict=True)
        for place in text.names
    }
    for i, (passage, text) in enumerate(zip(passages, read, strict=True)):
        annotated = {(mention.start, mention.end): mention.referent for mention in passage.mentions}
        found: list[Example] = []

        def choose(
            decision: Decision,
            text: TextRead = text,
            annotated: dict[tuple[int, int], str] = annotated,
            found: list[Example] = found,
        ) -> Referent | None:
            token = decision.anaphor.token
            meant = annotated.get(_characters(text, token, token + 1))
            right = [
                meant is not None and _meaning(candidate, meanings) == meant
                for candidate in decision.candidates
            ]
            found.append(_labelled(decision, right, name))
            return _first_right(decision, right)

        for _ in decisions(text, read[max(0, i - _MOST_EARLIER) : i], choose):
            pass
        yield from found


def _meaning(candidate: Candidate, meanings: Mapping[int, tuple[Passage, TextRead]]) -> str | None:
    """What a candidate refers to by GUM: the shortest mention that holds its newest name, and has
    its head within the name."""
    referent, ahead = candidate
    name = referent.last or ahead
    if name is None or id(name) not in meanings:
        return None
    passage, text = meanings[id(name)]
    start, end = _characters(text, name.first, name.last)
    fitting = [
        mention
        for mention in passage.mentions
        if mention.start <= start
        and end <= mention.end
        and start <= mention.head_start
        and mention.head_end <= end
    ]
    fitting += [
        mention for mention in passage.mentions if start <= mention.start and mention.end == end
    ]
    return (
        min(fitting, key=lambda mention: mention.end - mention.start).referent if fitting else None
    )


def _characters(text: TextRead, first: int, last: int) -> tuple[int, int]:
    return text.starts[first], text.starts[last - 1] + len(text.words[last - 1].text)
