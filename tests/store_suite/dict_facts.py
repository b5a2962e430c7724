"""The part of ``DictReader`` that reads entities, triplets and their evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from recallm.ground.entity_words import entity_words
from recallm.model import Entity, PreparedUpdate, Triplet, TripletEvidence
from tests.store_suite.dict_namespace import Namespace, TripletKey, ends_of, t_of


class DictFacts:
    """Entities and triplets of a namespace, as the visible updates show them."""

    def __init__(self, namespace: Namespace, visible: list[PreparedUpdate]) -> None:
        self._all = namespace
        self._updates = visible
        self._entities = namespace.entities()

    def entities(
        self,
        ids: Collection[str] | None = None,
        *,
        concepts: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Entity]:
        found: list[Entity] = []
        for id, state in sorted(self._entities.items()):
            shown = self._entity_evidence(id)
            touched = {t_of(update) for update in shown}
            name = state.concept.name
            wanted = (
                (ids is not None and id in ids)
                or (concepts is not None and name != "" and name in concepts)
                or (passages is not None and _brought(shown, passages))
            )
            if touched and (wanted or (ids is None and concepts is None and passages is None)):
                found.append(
                    Entity(
                        id=id,
                        type=state.type,
                        label=state.concept.label,
                        concept=state.concept.name,
                        properties=state.properties,
                        t_index=max(touched),
                        updates=len(touched),
                        source=_source(shown),
                    )
                )
        return found

    def triplets(
        self,
        *,
        subjects: Collection[str] | None = None,
        predicates: Collection[str] | None = None,
        objects: Collection[str] | None = None,
        ends: Collection[str] | None = None,
        passages: Collection[str] | None = None,
    ) -> list[Triplet]:
        found: list[Triplet] = []
        properties = self._all.triplet_properties()
        for key in sorted(self._all.triplets):
            subject, predicate, object = key
            shown = [u for u in self._updates if any(ends_of(t) == key for t in u.triplets)]
            if (
                shown
                and self._entity_evidence(subject)
                and self._entity_evidence(object)
                and (subjects is None or subject in subjects)
                and (predicates is None or predicate in predicates)
                and (objects is None or object in objects)
                and (ends is None or subject in ends or object in ends)
                and (passages is None or _brought(shown, passages))
            ):
                found.append(
                    Triplet(
                        subject=subject,
                        predicate=predicate,
                        object=object,
                        properties=properties[key],
                        strength=len(shown),
                        t_index=max(map(t_of, shown)),
                        source=_source(shown),
                    )
                )
        return found

    def triplet_evidence(
        self,
        *,
        subjects: Collection[str] | None = None,
        predicates: Collection[str] | None = None,
        objects: Collection[str] | None = None,
        limit: int | None = None,
    ) -> list[TripletEvidence]:
        shown = self.triplets(subjects=subjects, predicates=predicates, objects=objects)
        keys = {(triplet.subject, triplet.predicate, triplet.object) for triplet in shown}
        found: list[TripletEvidence] = []
        for update in self._updates:
            properties: dict[tuple[TripletKey, int], dict[str, Any]] = {}
            for triplet in update.triplets:
                if ends_of(triplet) in keys:
                    at = ends_of(triplet), triplet.position
                    properties.setdefault(at, {}).update(triplet.properties)
            for (key, position), own in properties.items():
                subject, object = self._entities[key[0]], self._entities[key[2]]
                is_passage = update.text is not None
                found.append(
                    TripletEvidence(
                        subject=key[0],
                        subject_label=subject.concept.label,
                        subject_concept=subject.concept.name,
                        predicate=key[1],
                        object=key[2],
                        object_label=object.concept.label,
                        object_concept=object.concept.name,
                        object_type=object.type,
                        properties=own,
                        t_index=t_of(update),
                        position=position,
                        passage=update.id if is_passage else None,
                        timestamp=update.timestamp if is_passage else None,
                        source=update.source if is_passage else None,
                    )
                )
        found.sort(key=lambda e: (e.subject, e.predicate, e.object))
        found.sort(key=lambda e: (e.t_index, e.position), reverse=True)
        return found[:limit]

    def predicates(self) -> Mapping[str, int]:
        return dict(sorted(self._all.predicates().items()))

    def entities_by_words(
        self, words: Collection[str], *, limit: int
    ) -> Mapping[str, tuple[str, ...]]:
        bearers: dict[str, tuple[str, ...]] = {}
        for id, state in sorted(self._entities.items()):
            if self._entity_evidence(id):
                for word in entity_words(state.concept.name, state.vectors).intersection(words):
                    bearers[word] = (*bearers.get(word, ()), id)[:limit]
        return {word: ids for word, ids in sorted(bearers.items()) if ids}

    def entity_vectors(
        self, ids: Collection[str] | None = None, *, model: str
    ) -> Mapping[str, bytes]:
        return {
            id: state.vectors[model]
            for id, state in sorted(self._entities.items())
            if (ids is None or id in ids) and model in state.vectors and self._entity_evidence(id)
        }

    def _entity_evidence(self, id: str) -> list[PreparedUpdate]:
        return [u for u in self._updates if any(e.id == id for e in u.entities)]


def _brought(shown: Collection[PreparedUpdate], passages: Collection[str]) -> bool:
    """Whether the update of one of these passages is among those that show it."""
    return any(update.text is not None and update.id in passages for update in shown)


def _source(shown: Collection[PreparedUpdate]) -> str | None:
    """The latest passage among the updates that show it, which ascend."""
    return next((u.id for u in reversed(list(shown)) if u.text is not None), None)
