"""From items that a user hands in to prepared updates, and from what the store did to results."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from recallm import checks
from recallm.errors import ConflictError, InvalidInputError
from recallm.graph import NewEntity, NewTriplet, entity_upsert, triplet_upsert
from recallm.model import Extraction, PreparedUpdate, statement_id
from recallm.results import KnowledgeUpdate
from recallm.stores.base import GraphStore

if TYPE_CHECKING:
    from recallm.extraction import Extractor, KeptExtractions

__all__ = [
    "NewPassage",
    "batches",
    "checked_item",
    "extracted",
    "overlapped",
    "prepared",
    "written",
]

_ARGUMENTS = (
    "text", "speaker", "timestamp", "source", "session", "id", "metadata", "expires_at",
    "entities", "triplets", "replace",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassage:
    """The arguments of one knowledge update, checked; ``recalled`` is false where the text is
    kept and not looked into."""

    id: str
    text: str
    speaker: str | None
    timestamp: datetime | None
    source: str | None
    session: str | None
    metadata: dict[str, Any]
    path: tuple[str, ...] = ()
    key: str | None = None
    expires_at: datetime | None = None
    recalled: bool = True
    entities: tuple[NewEntity, ...] = ()
    triplets: tuple[NewTriplet, ...] = ()
    replaces: bool = False


def checked_item(item: object) -> NewPassage:
    """An item of ``update_many``: a text, or a mapping of ``update``'s arguments.

    Raises:
        InvalidInputError: it cannot be used.

    """
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, Mapping):
        raise InvalidInputError(
            f"an item must be a str or a mapping of update's arguments, not {type(item).__name__}",
            argument="items",
        )
    unknown = sorted(map(str, set(item) - set(_ARGUMENTS)))
    if unknown or "text" not in item:
        problem = f"{', '.join(unknown)} is unknown" if unknown else "text is missing"
        raise InvalidInputError(
            f"{problem}; an item has text and may have {', '.join(_ARGUMENTS[1:])}",
            argument="items",
        )
    id = checks.optional_name(item.get("id"), "id")
    entities, triplets = (
        () if item.get(given) is None else tuple(checks.listed(item[given], given))
        for given in ("entities", "triplets")
    )
    checked_text = checks.string if entities or triplets else checks.passage_text
    return NewPassage(
        id=uuid.uuid4().hex if id is None else id,
        text=checked_text(item["text"], "text"),
        speaker=checks.optional_name(item.get("speaker"), "speaker"),
        timestamp=checks.timestamp(item.get("timestamp")),
        source=checks.optional_name(item.get("source"), "source"),
        session=checks.optional_name(item.get("session"), "session"),
        metadata=checks.properties(item.get("metadata"), "metadata"),
        expires_at=checks.timestamp(item.get("expires_at"), "expires_at"),
        entities=entities,
        triplets=triplets,
        replaces=checks.flag(item.get("replace", False), "replace"),
    )


def batches(items: Iterable[object], size: int) -> Iterator[tuple[int, list[NewPassage]]]:
    """Checked items, ``size`` at a time, with the index of the first of each batch.

    Raises:
        InvalidInputError: with ``index``; the batch of the bad item is not given.

    """
    iterator = iter(items)
    first = 0
    while chunk := list(islice(iterator, size)):
        batch = []
        for index, item in enumerate(chunk, start=first):
            try:
                batch.append(checked_item(item))
            except InvalidInputError as error:
                raise InvalidInputError(
                    error.message, argument=error.argument, index=index
                ) from None
        yield first, batch
        first += len(chunk)


def extracted(
    texts: Iterable[object], extractor: Extractor, kept: KeptExtractions
) -> list[Extraction]:
    """The extraction of each text, which is kept for its update.

    Raises:
        InvalidInputError: a text cannot be used.

    """
    checked = checks.strings(texts, "texts")
    known = [kept.get(text, None) for text in checked]
    fresh = extractor.extract_many(
        (text, None) for text, it in zip(checked, known, strict=True) if it is None
    )
    found = [next(fresh) if it is None else it for it in known]
    for text, extraction in zip(checked, found, strict=True):
        kept.keep(text, None, extraction)
    return found


def prepared(
    batch: Sequence[NewPassage], extractor: Extractor, kept: KeptExtractions, *, first: int | None
) -> list[PreparedUpdate]:
    """What the store writes for each passage; ``kept`` has what was extracted before; ``first`` is
    the index of the first, None for a single update."""
    updates: list[PreparedUpdate] = []
    known = [kept.take(new.text, new.speaker) if new.recalled else Extraction() for new in batch]
    extractions = extractor.extract_many(
        (new.text, new.speaker) for new, it in zip(batch, known, strict=True) if it is None
    )
    try:
        for new, before in zip(batch, known, strict=True):
            extraction = next(extractions) if before is None else before
            updates.append(
                PreparedUpdate(
                    id=new.id,
                    text=new.text,
                    statements=extraction.statements,
                    neighbours=extraction.neighbours,
                    source=new.source,
                    session=new.session,
                    speaker=new.speaker,
                    speaker_concept=extraction.speaker_concept,
                    timestamp=new.timestamp,
                    metadata=new.metadata,
                    path=new.path,
                    key=new.key,
                    expires_at=new.expires_at,
                    entities=tuple(
                        entity_upsert(it, extractor.concept_name) for it in new.entities
                    ),
                    triplets=tuple(triplet_upsert(it) for it in new.triplets),
                    replaces=new.replaces,
                )
            )
    except InvalidInputError as error:
        if first is None:
            raise
        raise InvalidInputError(
            error.message, argument=error.argument, index=first + len(updates)
        ) from None
    return updates


def overlapped(
    chunks: Iterable[tuple[int, list[NewPassage]]],
    prepare: Callable[[int, list[NewPassage]], list[PreparedUpdate]],
    finish: Callable[[int, list[PreparedUpdate]], list[KnowledgeUpdate]],
) -> Iterator[list[KnowledgeUpdate]]:
    """``finish`` of what ``prepare`` gives for each batch, in order; the next one is prepared in
    another thread meanwhile, one ahead at most. An error is raised when its batch's turn comes:
    those before it are finished."""
    batches = iter(chunks)
    waiting: tuple[int, Future[list[PreparedUpdate]]] | None = None
    with ThreadPoolExecutor(1, thread_name_prefix="recallm-extraction") as thread:
        while True:
            try:
                chunk = next(batches, None)
            except Exception:
                if waiting is not None:
                    yield finish(waiting[0], waiting[1].result())
                raise
            following = None
            if chunk is not None:
                first, batch = chunk
                following = first, thread.submit(prepare, first, batch)
            if waiting is not None:
                yield finish(waiting[0], waiting[1].result())
            if following is None:
                return
            waiting = following


def written(
    store: GraphStore, namespace: str, updates: Sequence[PreparedUpdate], *, first: int | None
) -> list[KnowledgeUpdate]:
    """Apply the updates in one transaction and say what each wrote.

    Raises:
        ConflictError: an id belongs to another text; ``index`` counts from the first item of all.

    """
    try:
        applied = store.apply(namespace, updates)
    except ConflictError as error:
        if first is None:
            raise ConflictError(error.id) from None
        raise ConflictError(error.id, index=first + (error.index or 0)) from None
    return [
        KnowledgeUpdate(id=update.id, t_index=done.t_index, duplicate=True)
        if done.duplicate
        else _result(update, done.t_index)
        for update, done in zip(updates, applied, strict=True)
    ]


def _result(update: PreparedUpdate, t_index: int) -> KnowledgeUpdate:
    concepts = dict.fromkeys(
        mention.name for statement in update.statements for mention in statement.concepts
    )
    relations = dict.fromkeys((pair.a, pair.b) for pair in update.neighbours)
    return KnowledgeUpdate(
        id=update.id,
        t_index=t_index,
        statements=tuple(statement_id(update.id, it.position) for it in update.statements),
        concepts=tuple(concepts),
        relations=tuple(relations),
    )
