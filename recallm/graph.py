"""Entities and triplets by exact id, for property graphs and RET-LLM's triplet memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from recallm.errors import DimensionError, InvalidInputError
from recallm.ground import checks
from recallm.ground.methods import knows_its_arguments
from recallm.model import (
    LARGEST_NUMBER,
    ConceptMention,
    Entity,
    EntityUpsert,
    Forgotten,
    GraphNames,
    Horizon,
    Moment,
    PreparedUpdate,
    Selection,
    Triplet,
    TripletConditions,
    TripletUpsert,
    empty_mapping,
)
from recallm.recall.neighbourhood import (
    Neighbourhood,
    known_name,
    networkx_graph,
    read_neighbourhood,
)
from recallm.stores.base import GraphReader, GraphStore
from recallm.vectors import encode, nearest

if TYPE_CHECKING:
    from networkx import MultiDiGraph

__all__ = [
    "GraphUpdate",
    "MemoryGraph",
    "NewEntity",
    "NewTriplet",
    "entity_upsert",
    "triplet_upsert",
]


def _checked_embeddings(value: object, argument: str) -> dict[str, Sequence[float]]:
    embeddings = checks.mapping(value, argument)
    for model, vector in embeddings.items():
        checks.name(model, "embedding model")
        encode(vector)
    return embeddings


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntity:
    """An entity to create, or to merge into the one with the same ``id``.

    ``label`` is its spelling (the id, where no label is given): it names the concept that the
    entity stands on. With ``concept=False`` it stands on none (a chunk of text, a document).
    ``properties`` hold JSON values and are merged key by key in the order of t; forgetting
    the update forgets them. ``embeddings``: model name → vector; all vectors of one model have the
    same dimension. ``mentioned``: if the entity exists already, the update only adds evidence and
    leaves its other values as they are.

    Raises:
        InvalidInputError: a value cannot be used.

    """

    id: Annotated[str, checks.name]
    type: Annotated[str, checks.name] = "entity"
    label: Annotated[str | None, checks.name] = None
    properties: Annotated[Mapping[str, Any], checks.properties] = field(
        default_factory=empty_mapping
    )
    concept: Annotated[bool, checks.flag] = True
    embeddings: Annotated[Mapping[str, Sequence[float]], _checked_embeddings] = field(
        default_factory=empty_mapping
    )
    mentioned: Annotated[bool, checks.flag] = False

    def __post_init__(self) -> None:
        try:
            checks.check_fields(self)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"entity {checks.shown(self.id)}: {error.message}", argument=error.argument
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTriplet:
    """⟨subject, predicate, object⟩ between two entity ids (RET-LLM), with one more evidence.

    Raises:
        InvalidInputError: a value cannot be used.

    """

    subject: Annotated[str, checks.name]
    predicate: Annotated[str, checks.name]
    object: Annotated[str, checks.name]
    properties: Annotated[Mapping[str, Any], checks.properties] = field(
        default_factory=empty_mapping
    )

    def __post_init__(self) -> None:
        checks.check_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphUpdate:
    """Entities and triplets of one knowledge update. With the id of a ``passage`` they join the
    update that wrote it: they get its t_index, and are forgotten with it.

    Raises:
        InvalidInputError: a value cannot be used, or there is no entity and no triplet.

    """

    entities: Annotated[Iterable[NewEntity], partial(checks.instances, NewEntity)] = ()
    triplets: Annotated[Iterable[NewTriplet], partial(checks.instances, NewTriplet)] = ()
    passage: Annotated[str | None, checks.name] = None

    def __post_init__(self) -> None:
        checks.check_fields(self)
        if not self.entities and not self.triplets:
            raise InvalidInputError("upsert needs an entity or a triplet", argument="entities")


@knows_its_arguments
class MemoryGraph:
    """The entities and triplets of one namespace. Each method raises ``InvalidInputError`` for an
    argument that cannot be used, and ``StoreError`` where the store fails.

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
        self,
        entities: Iterable[NewEntity] = (),
        triplets: Iterable[NewTriplet] = (),
        *,
        passage: str | None = None,
    ) -> int:
        """Write entities and triplets as one knowledge update, or add them to the update of
        ``passage``; return its t_index.

        Raises:
            InvalidInputError: there are none, or one cannot be used.
            UnknownPassageError: there is no such passage.
            DimensionError: an embedding has another dimension than earlier ones of its model.
            UnknownEntityError: a triplet names an entity that is neither stored nor in
                ``entities``.
            StoreError: the store failed; nothing was written.

        """
        update = GraphUpdate(entities=entities, triplets=triplets, passage=passage)
        return self.upsert_many([update])[0]

    def upsert_many(self, updates: Iterable[GraphUpdate]) -> list[int]:
        """``upsert`` each of ``updates``, all in one transaction; return their t_index.

        Raises:
            InvalidInputError, UnknownPassageError, DimensionError, UnknownEntityError, StoreError:
                as in ``upsert``; nothing was written.

        """
        concept_name = cache(self._concept_name)  # many updates show the same entities
        prepared = [
            PreparedUpdate(
                id="" if update.passage is None else update.passage,
                text=None,
                entities=tuple(entity_upsert(entity, concept_name) for entity in update.entities),
                triplets=tuple(map(triplet_upsert, update.triplets)),
            )
            for update in checks.instances(GraphUpdate, updates, "updates")
        ]
        if not prepared:
            return []
        return [applied.t_index for applied in self._store.apply(self._namespace, prepared)]

    def nearest(
        self,
        embedding: Sequence[float],
        *,
        model: str,
        limit: int = 10,
        ids: Collection[str] | None = None,
        as_of: Moment | None = None,
    ) -> list[tuple[Entity, float]]:
        """The entities whose embeddings under ``model`` are nearest to ``embedding``, each with its
        cosine, nearest first; only among ``ids``, if given. The search compares all of them.

        Raises:
            InvalidInputError: an argument cannot be used.
            DimensionError: ``embedding`` has another dimension than the stored ones.

        """
        blob = encode(embedding)
        among = checks.optional(checks.strings, ids, "ids")
        at_most = checks.count(limit, "limit") or 1
        with self.reader(as_of) as reader:
            size = reader.state.vector_bytes.get(checks.name(model, "model"))
            if size is not None and size != len(blob):
                raise DimensionError(model, expected=size // 2, found=len(blob) // 2)
            found = nearest(embedding, reader.entity_vectors(among, model=model), at_most)
            entities = {each.id: each for each in reader.entities([id for id, _ in found])}
        return [(entities[id], cosine) for id, cosine in found if id in entities]

    def entity(self, id: str) -> Entity | None:
        """The entity with exactly this id; None if there is none."""
        found = self.entities([id])
        return found[0] if found else None

    def entities(
        self,
        ids: Collection[str] | None = None,
        *,
        labels: Collection[str] | None = None,
        passages: Collection[str] | None = None,
        as_of: Moment | None = None,
    ) -> list[Entity]:
        """The entities with these ids, those that stand on the concepts of these labels, and those
        that these passages showed; all entities, if nothing is given. Sorted by id."""
        spellings = checks.optional(checks.strings, labels, "labels")
        concepts = None if spellings is None else set(map(self.concept_name, spellings))
        exact_ids = checks.optional(checks.strings, ids, "ids")
        shown_by = checks.optional(checks.strings, passages, "passages")
        with self.reader(as_of) as reader:
            return reader.entities(exact_ids, concepts=concepts, passages=shown_by)

    def triplets(
        self, *, as_of: Moment | None = None, **where: Unpack[TripletConditions]
    ) -> list[Triplet]:
        """The triplets that meet every condition given (``ends``: ids of subject or object;
        ``passages``: ids of passages that show the triplet, at least one of them), sorted by
        (subject, predicate, object)."""
        given: Mapping[str, Any] = where
        conditions: Any = {
            argument: checks.optional(checks.strings, value, argument)
            for argument, value in given.items()
        }
        with self.reader(as_of) as reader:
            return reader.triplets(**conditions)

    def show(self, concept: str, *, limit: int = 24, as_of: Moment | None = None) -> Neighbourhood:
        """``concept`` (its label, or its name) with at most ``limit`` neighbours, those of the
        latest relations, and the relations among all of these."""
        label = checks.string(concept, "concept")
        at_most = min(checks.whole(limit, "limit", least=1), LARGEST_NUMBER)
        with self.reader(as_of) as reader:
            name = known_name(reader, label, self._concept_name)
            return read_neighbourhood(reader, name, at_most)

    def to_networkx(self, *, as_of: Moment | None = None) -> MultiDiGraph:
        """A networkx graph of all concepts, relations, entities and triplets.

        The nodes "concept:NAME" and "entity:ID" have ``element`` ("concept" or "entity"), ``name``
        (the name or id), ``label``, ``kind`` (of an entity: its type), ``t_index`` and ``updates``;
        concepts ``statements``; entities ``properties`` and ``source``. The ``element`` of an edge
        is "relation" (from the smaller name; it has no direction), "triplet" (its key and ``label``
        are the predicate) or "stands on", from an entity to its concept. Relations and triplets
        have ``strength`` and ``t_index``, triplets ``properties`` and ``source`` too.

        ``json.dump(networkx.node_link_data(graph), file)`` writes the graph to a file.

        Raises:
            InvalidInputError: ``as_of`` cannot be used.
            MissingDependencyError: networkx is not installed.

        """
        with self.reader(as_of) as reader:
            return networkx_graph(reader)

    def delete(
        self,
        entities: Collection[str] = (),
        triplets: Iterable[tuple[str, str, str]] = (),
    ) -> Forgotten:
        """Delete entities by exact id, with their triplets, and triplets by (subject, predicate,
        object). Unknown names are ignored; statements stay."""
        named: set[tuple[str, str, str]] = set()
        for triplet in checks.listed(triplets, "triplets"):
            match checks.strings(triplet, "triplets"):
                case [subject, predicate, object_]:
                    named.add((subject, predicate, object_))
                case _:
                    raise InvalidInputError(
                        "a triplet is named by (subject, predicate, object)", argument="triplets"
                    )
        names = GraphNames(
            entities=frozenset(checks.strings(entities, "entities")), triplets=frozenset(named)
        )
        return self._store.forget(self._namespace, Selection(kind="graph", value=names))

    def concept_name(self, label: str) -> str:
        """The name of the concept that an entity with this label stands on."""
        return _concept_of(checks.string(label, "label"), self._concept_name)

    def reader(self, as_of: Moment | None = None) -> AbstractContextManager[GraphReader]:
        """A reader of the store, for the packages that stand on the graph: one state for as long as
        it is open."""
        horizon = Horizon(as_of=checks.moment(as_of, "as_of"), now=self._clock())
        return self._store.reader(self._namespace, horizon)


def entity_upsert(entity: NewEntity, concept_name: Callable[[str], str]) -> EntityUpsert:
    """What a store writes for ``entity``."""
    label = entity.id if entity.label is None else entity.label
    name = _concept_of(label, concept_name) if entity.concept else ""
    return EntityUpsert(
        id=entity.id,
        type=entity.type,
        concept=ConceptMention(name=name, label=label, kind="entity"),
        properties=entity.properties,
        vectors={model: encode(vector) for model, vector in entity.embeddings.items()},
        mentioned=entity.mentioned,
    )


def triplet_upsert(triplet: NewTriplet) -> TripletUpsert:
    """What a store writes for ``triplet``."""
    return TripletUpsert(
        subject=triplet.subject,
        predicate=triplet.predicate,
        object=triplet.object,
        properties=triplet.properties,
    )


def _concept_of(label: str, concept_name: Callable[[str], str]) -> str:
    """The name of the concept; a label without letters and digits is its own name."""
    return concept_name(label) or label.casefold()
