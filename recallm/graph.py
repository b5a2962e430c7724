"""Entities and triplets by exact id: what property graphs and RET-LLM's triplet memory stand on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recallm import checks
from recallm.errors import InvalidInputError
from recallm.model import (
    ConceptMention,
    Entity,
    EntityUpsert,
    Forgotten,
    Horizon,
    PreparedUpdate,
    Triplet,
    TripletUpsert,
    empty_mapping,
)
from recallm.stores.base import GraphStore

__all__ = ["MemoryGraph", "NewEntity", "NewTriplet"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntity:
    """An entity to create, or to merge into the one with the same ``id``.

    ``label`` is how it is spelled (its id, where none is given): the concept it stands on is
    named after it. ``properties`` hold JSON values and are merged key by key.
    """

    id: str
    type: str = "entity"
    label: str | None = None
    properties: Mapping[str, Any] = field(default_factory=empty_mapping)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTriplet:
    """⟨subject, predicate, object⟩ between two entity ids (RET-LLM); one more evidence of it."""

    subject: str
    predicate: str
    object: str
    properties: Mapping[str, Any] = field(default_factory=empty_mapping)


class MemoryGraph:
    """The entities and triplets of one namespace.

    >>> from recallm import NewEntity, NewTriplet, RecallM
    >>> graph = RecallM().graph
    >>> graph.upsert(
    ...     [NewEntity(id="Mary", type="person"), NewEntity(id="Acme", type="company")],
    ...     [NewTriplet(subject="Mary", predicate="works at", object="Acme")],
    ... )
    1
    >>> [triplet.object for triplet in graph.triplets(subjects=["Mary"])]
    ['Acme']
    """

    def __init__(
        self,
        store: GraphStore,
        namespace: str,
        concept_name: Callable[[str], str],
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._concept_name = concept_name
        self._clock = clock

    def upsert(
        self, entities: Iterable[NewEntity] = (), triplets: Iterable[NewTriplet] = ()
    ) -> int:
        """Write entities and triplets as one knowledge update; return its t_index.

        Raises:
            InvalidInputError: there are none, or one cannot be used.
            UnknownEntityError: a triplet names an entity that is neither stored nor among them.
            StoreError: the store failed; nothing was written.

        """
        update = PreparedUpdate(
            id="",
            text=None,
            entities=tuple(self._entity(entity) for entity in entities),
            triplets=tuple(_triplet(triplet) for triplet in triplets),
        )
        if not update.entities and not update.triplets:
            raise InvalidInputError("upsert needs an entity or a triplet", argument="entities")
        [applied] = self._store.apply(self._namespace, [update])
        return applied.t_index

    def entity(self, id: str) -> Entity | None:
        """The entity with exactly this id; None if there is none."""
        found = self.entities([id])
        return found[0] if found else None

    def entities(
        self,
        ids: Collection[str] | None = None,
        *,
        labels: Collection[str] | None = None,
        as_of: int | datetime | None = None,
    ) -> list[Entity]:
        """The entities with these ids, or that stand on the concepts of these labels (all, if
        neither is given), by id."""
        wanted = None if ids is None else _strings(ids, "ids")
        concepts = (
            None if labels is None else {self._name(label) for label in _strings(labels, "labels")}
        )
        with self._store.reader(self._namespace, self._horizon(as_of)) as reader:
            return reader.entities(wanted, concepts=concepts)

    def triplets(
        self,
        *,
        subjects: Collection[str] | None = None,
        predicates: Collection[str] | None = None,
        objects: Collection[str] | None = None,
        ends: Collection[str] | None = None,
        as_of: int | datetime | None = None,
    ) -> list[Triplet]:
        """The triplets that meet every condition given (``ends``: subject or object), by
        (subject, predicate, object)."""
        conditions = {
            argument: None if given is None else _strings(given, argument)
            for argument, given in (
                ("subjects", subjects),
                ("predicates", predicates),
                ("objects", objects),
                ("ends", ends),
            )
        }
        with self._store.reader(self._namespace, self._horizon(as_of)) as reader:
            return reader.triplets(**conditions)

    def delete(
        self,
        entities: Collection[str] = (),
        triplets: Iterable[tuple[str, str, str]] = (),
    ) -> Forgotten:
        """Delete entities by exact id, with their triplets, and triplets by (subject, predicate,
        object). Unknown ones delete nothing; statements stay."""
        named = [tuple(_strings(triplet, "triplets")) for triplet in triplets]
        if any(len(triplet) != 3 for triplet in named):
            raise InvalidInputError(
                "a triplet is named by (subject, predicate, object)", argument="triplets"
            )
        return self._store.delete_graph(
            self._namespace,
            entities=_strings(entities, "entities"),
            triplets=[(subject, predicate, object_) for subject, predicate, object_ in named],
        )

    def _entity(self, entity: NewEntity) -> EntityUpsert:
        id = checks.name(entity.id, "entity id")
        label = id if entity.label is None else checks.name(entity.label, "entity label")
        return EntityUpsert(
            id=id,
            type=checks.name(entity.type, "entity type"),
            concept=ConceptMention(name=self._name(label), label=label, kind="entity"),
            properties=checks.properties(entity.properties, "entity properties"),
        )

    def _name(self, label: str) -> str:
        """The concept's name; a label without letters and digits names itself."""
        return self._concept_name(label) or label.casefold()

    def _horizon(self, as_of: int | datetime | None) -> Horizon:
        return Horizon(as_of=checks.moment(as_of, "as_of"), now=self._clock())


def _triplet(triplet: NewTriplet) -> TripletUpsert:
    return TripletUpsert(
        subject=checks.name(triplet.subject, "subject"),
        predicate=checks.name(triplet.predicate, "predicate"),
        object=checks.name(triplet.object, "object"),
        properties=checks.properties(triplet.properties, "triplet properties"),
    )


def _strings(values: Iterable[str], argument: str) -> list[str]:
    if isinstance(values, str):
        raise InvalidInputError(f"{argument} must be a list of str", argument=argument)
    return [checks.string(value, argument) for value in values]
