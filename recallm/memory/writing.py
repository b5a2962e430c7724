"""The road of a text into the memory, from top to bottom.

1. ``UpdateRequest``: the arguments of one knowledge update, checked once when it is made.
2. Extraction turns the text into statements, concepts and neighbours: a ``PreparedUpdate``.
   ``Discourses`` gives it the passages that stand before the text in its session.
3. If the memory has embeddings, each statement gets its vector.
4. ``store.apply`` writes a batch in one transaction, which first forgets a bounded number of the
   passages that have expired.
5. If the memory has a language model, it revises the contexts that are due.
6. The caller gets a ``KnowledgeUpdate``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from functools import partial
from itertools import islice
from typing import Any, Unpack

from tqdm import tqdm

from recallm.errors import ConflictError, InvalidInputError
from recallm.ground import checks
from recallm.memory.discourses import Discourses
from recallm.memory.open_memory import OpenMemory, Part
from recallm.memory.revision import Reviser
from recallm.memory.update_request import UpdateArguments, UpdateRequest
from recallm.model import Extraction, Horizon, PreparedUpdate, Turn, statement_id
from recallm.recall.results import KnowledgeUpdate


class Writing(Part):
    """Writes to one namespace."""

    def update(self, text: str, **arguments: Unpack[UpdateArguments]) -> KnowledgeUpdate:
        """Add ``text``: one knowledge update, one transaction (paper, Knowledge Update).

        ``timestamp`` (aware): when it was said; ``speaker``: by whom; ``session``: in which
        conversation or document; ``source``: where it comes from. Without a session, the updates of
        a source without a speaker are one; messages (a source, a speaker and a timestamp) and
        updates with a timestamp alone are one where less than an hour apart. The same ``id`` with
        the same text changes nothing; with ``replace``, a passage with this ``id`` and another text
        is forgotten first. ``metadata`` holds JSON values. ``expires_at`` (aware): from then on
        nothing of the text is shown. It still counts (in strengths, ``stats``) until a sweep
        forgets it: each write first forgets up to 256 expired passages, ``forget(expired=True)``
        forgets all. ``entities`` and ``triplets`` are facts of the text in exact form, as in
        ``graph.upsert``: they are forgotten with it. With some, the text may be blank.

        Raises:
            InvalidInputError: an argument cannot be used.
            ConflictError: ``id`` belongs to a passage with another text, and ``replace`` is False.
            UnknownEntityError: a triplet names an entity that is neither stored nor in
                ``entities``.
            StoreError: the store failed; nothing was written.

        """
        given: dict[str, Any] = {"text": text, **arguments}
        return put(self._opened, [UpdateRequest(**given)])[0]

    def write(self, request: UpdateRequest) -> KnowledgeUpdate:
        """Write one checked knowledge update, for the packages that stand on the memory.

        Raises:
            InvalidInputError: ``request`` is no UpdateRequest.

        """
        if not isinstance(request, UpdateRequest):
            raise InvalidInputError("request must be an UpdateRequest", argument="request")
        return put(self._opened, [request])[0]

    def update_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        batch_size: int = 1000,
        progress: bool = False,
    ) -> list[KnowledgeUpdate]:
        """Add many texts, each as a knowledge update of its own, in one transaction for each batch.

        An item is a text, a mapping of ``update``'s arguments, or a message of a chat API: ``role``
        and ``content`` (a text, or a list of parts, of which those of text are taken), and perhaps
        ``name`` (the speaker; "Human" or "AI" without), ``created_at`` (seconds since 1970, or ISO
        8601), ``id``, ``session``, ``source`` and ``metadata``; what else it has is left out.
        Messages of the system, the developer and tools are nobody's words: they, and messages
        without text, write nothing and have no result. ``progress`` shows a bar on standard error.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> chat = [{"role": "user", "content": "I keep bees."}, {"role": "system", "content": "…"}]
        >>> len(memory.update_many(chat)), memory.passages()[0].speaker
        (1, 'Human')

        Raises:
            InvalidInputError, ConflictError: item ``index`` cannot be used. Its batch was rolled
                back, the batches before it are written. Items with ids can be given again.
            StoreError: the store failed; the batch was rolled back.

        """
        size = checks.count(batch_size, "batch_size") or 1
        given = checks.listed(items, "items")
        self._opened.check_open()
        done: list[KnowledgeUpdate] = []
        total = len(given) if isinstance(given, Sized) else None
        with tqdm(total=total, disable=not progress, unit="update") as bar:
            requests = _requests(self._opened, given)
            while batch := list(islice(requests, size)):
                requested = [request for _, request in batch]
                done += put(self._opened, requested, [place for place, _ in batch])
                bar.update(len(batch))
        return done

    def extract(self, texts: Iterable[str], *, triplets: bool = True) -> list[Extraction]:
        """The statements of each text, their concepts, the pairs of neighbours, and (with
        ``triplets``, which takes a parse) the facts that the text states: what ``update`` would
        write for a text without a speaker and a session. Nothing is written. An ``update``
        with one of these texts does not run the pipeline again.

        Raises:
            InvalidInputError: a text cannot be used.

        """
        self._opened.check_open()
        parses = checks.flag(triplets, "triplets")
        turns = map(Turn, checks.strings(texts, "texts"))
        return list(self._opened.extractor.extract_many(turns, triplets=parses))

    def embed(self, *, batch_size: int = 1000, progress: bool = False) -> int:
        """Give a vector to every statement that has none, ``batch_size`` in a transaction; return
        how many statements got one. Such statements were written by a memory without embeddings, or
        come from an archive. After an interruption, another call goes on where this one stopped.
        ``progress`` shows a bar on standard error.

        Raises:
            InvalidInputError: the memory was opened without embeddings.
            EmbeddingModelError: the namespace's vectors are of another model.
            EmbeddingError: the model failed; the batches before are written.
            StoreError: the store failed; the batches before are written.

        """
        size = checks.count(batch_size, "batch_size") or 1
        self._opened.check_open()
        vectors = self._opened.vectors
        if vectors is None:
            raise InvalidInputError(
                "embed needs an embedding model: open the memory with RecallM(…, embeddings=…), or "
                "give the command --embeddings default",
                argument="embeddings",
            )
        total = 0
        latest = -1
        with tqdm(disable=not progress, unit="statement") as bar:
            while True:
                with self._opened.store.reader(self._opened.name, _EVERYTHING) as reader:
                    vectors.checked_state(reader)
                    keys = reader.statement_keys(embedded=False, after=latest, limit=size)
                if not keys:
                    return total
                embedded = vectors.embed_statements(self._opened.name, keys)
                total += embedded
                latest = keys[-1]
                bar.update(embedded)


_EVERYTHING = Horizon(withdrawn=True)


def _requests(opened: OpenMemory, items: Iterable[object]) -> Iterator[tuple[int, UpdateRequest]]:
    """The places of items with what they ask for; without the messages that are nobody's
    words."""
    for place, item in enumerate(items):
        opened.check_open()
        try:
            request = UpdateRequest.of_item(item)
        except InvalidInputError as error:
            raise InvalidInputError(error.message, argument=error.argument, index=place) from None
        if request is not None:
            yield place, request


def put(
    opened: OpenMemory, requests: Sequence[UpdateRequest], places: Sequence[int] | None = None
) -> list[KnowledgeUpdate]:
    """Write checked knowledge updates in one transaction. ``places`` are those of the updates
    among the caller's items, None where the caller has no items.

    Raises:
        ConflictError: an id belongs to another text; ``index`` counts the caller's items.
        EmbeddingModelError: the namespace's vectors are of another model than the embeddings.

    """
    opened.check_open()
    discourses = Discourses(opened, requests)
    if opened.vectors is not None:
        with opened.reader(withdrawn=True) as reader:
            opened.vectors.warned_state(opened.name, reader)
            discourses.read(reader)
    updates = _extracted(opened, requests, discourses)
    if opened.vectors is not None:
        updates = opened.vectors.with_vectors(updates, [key is not None for key in discourses.keys])
    try:
        applied = opened.store.apply(opened.name, updates, now=opened.clock())
    except ConflictError as error:
        index = None if places is None else places[error.index or 0]
        raise ConflictError(error.id, index=index) from None
    results = [
        KnowledgeUpdate(id=update.id, t_index=each.t_index, duplicate=True)
        if each.duplicate
        else _result(update, each.t_index)
        for update, each in zip(updates, applied, strict=True)
    ]
    if opened.llm is None or opened.config.revision != "llm":
        return results
    reviser = Reviser(opened.store, opened.llm, opened.extractor.describe, opened.config)
    return reviser.after(opened.name, results)


def _extracted(
    opened: OpenMemory, requests: Sequence[UpdateRequest], discourses: Discourses
) -> list[PreparedUpdate]:
    """Extract the texts, several at once. If one states its facts, all are parsed."""
    tell_facts = [request.tells_facts(always=opened.triplets) for request in requests]
    turns = [
        request.turn(discourses.of(place))
        for place, request in enumerate(requests)
        if request.recalled
    ]
    extracted = opened.extractor.extract_many(turns, triplets=any(tell_facts))
    extractions = iter(list(extracted))
    return [
        request.prepared(
            next(extractions) if request.recalled else Extraction(),
            opened.concept_name,
            states_facts=tells_facts,
        )
        for request, tells_facts in zip(requests, tell_facts, strict=True)
    ]


def _result(update: PreparedUpdate, t_index: int) -> KnowledgeUpdate:
    concepts = dict.fromkeys(
        mention.name for statement in update.statements for mention in statement.concepts
    )
    relations = dict.fromkeys((pair.a, pair.b) for pair in update.neighbours)
    positions = [each.position for each in update.statements]
    return KnowledgeUpdate(
        id=update.id,
        t_index=t_index,
        statements=tuple(map(partial(statement_id, update.id), positions)),
        concepts=tuple(concepts),
        relations=tuple(relations),
    )
