"""The arguments of one knowledge update, checked once, and the items of ``update_many``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Annotated, Any, TypedDict

from recallm.english.stated_facts import stated_elements
from recallm.errors import InvalidInputError
from recallm.graph import NewEntity, NewTriplet, entity_upsert, triplet_upsert
from recallm.ground import checks
from recallm.ground.methods import unknown_argument
from recallm.ground.untrusted_text import claimed_roles
from recallm.memory.spoken import is_message, message_update
from recallm.model import Discourse, Extraction, PreparedUpdate, Turn, empty_mapping


class UpdateArguments(TypedDict, total=False):
    """What ``RecallM.update`` takes beside the text."""

    speaker: str | None
    timestamp: datetime | None
    source: str | None
    session: str | None
    id: str | None
    metadata: Mapping[str, Any] | None
    expires_at: datetime | None
    entities: Iterable[NewEntity]
    triplets: Iterable[NewTriplet]
    replace: bool


_LONGEST_SAID = 1200
"""Characters of a message."""

_ARGUMENTS = ("text", *UpdateArguments.__annotations__)
"""The arguments of ``RecallM.update``: what an item of ``update_many`` may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateRequest:
    """The arguments of one knowledge update. Whoever has one knows that it is valid.

    ``id`` is a str; None gives a random one. ``path`` and ``key`` are those of an item. With
    ``recalled=False`` the text is stored and not extracted, so that recall does not find it.
    With ``states_facts`` the facts that it states are written whether or not the memory does so for
    all texts. The rest is as in ``RecallM.update``.

    Raises:
        InvalidInputError: an argument cannot be used.

    """

    text: Annotated[str, checks.string]
    id: Annotated[Any, checks.new_id] = None
    speaker: Annotated[str | None, checks.name] = None
    timestamp: Annotated[datetime | None, checks.timestamp] = None
    source: Annotated[str | None, checks.name] = None
    session: Annotated[str | None, checks.name] = None
    metadata: Annotated[Mapping[str, Any], checks.properties] = field(default_factory=empty_mapping)
    expires_at: Annotated[datetime | None, checks.timestamp] = None
    entities: Annotated[Iterable[NewEntity], partial(checks.instances, NewEntity)] = ()
    triplets: Annotated[Iterable[NewTriplet], partial(checks.instances, NewTriplet)] = ()
    replace: Annotated[bool, checks.flag] = False
    path: Annotated[Sequence[str], checks.item_path] = ()
    key: Annotated[str | None, checks.name] = None
    recalled: Annotated[bool, checks.flag] = True
    states_facts: Annotated[bool, checks.flag] = False

    def __post_init__(self) -> None:
        checks.check_fields(self)
        if not self.entities and not self.triplets:
            checks.passage_text(self.text)

    @classmethod
    def of_item(cls, item: object) -> UpdateRequest | None:
        """An item of ``update_many``: a text, a mapping of the arguments of ``update``, or a
        message of a chat API; None for a message that is nobody's words.

        Raises:
            InvalidInputError: it cannot be used.

        """
        if isinstance(item, str):
            return cls(text=item)
        if not isinstance(item, Mapping):
            raise InvalidInputError(
                "an item must be a str, a mapping of update's arguments or a message with role and "
                f"content, not {type(item).__name__}",
                argument="items",
            )
        if is_message(item):
            item = message_update(item)
            if item is None:
                return None
        for unknown in sorted(map(str, set(item) - set(_ARGUMENTS))):
            raise unknown_argument("an item", unknown, _ARGUMENTS)
        if "text" not in item:
            raise InvalidInputError(
                f"text is missing; an item has text and may have {', '.join(_ARGUMENTS[1:])}",
                argument="items",
            )
        return cls(**item)

    def tells_facts(self, *, always: bool) -> bool:
        """Whether the facts that the text states are written: where the caller asks for them, or
        ``always``, but for a message so long that its speaker pasted the text of somebody else."""
        is_pasted = self.speaker is not None and len(self.text) > _LONGEST_SAID
        return self.states_facts or (always and not is_pasted)

    def turn(self, discourse: Discourse | None) -> Turn:
        """What extraction reads."""
        is_assistant = self.metadata.get("role") == "ai" or (
            self.speaker is not None and "ai" in claimed_roles(self.speaker)
        )
        return Turn(self.text, self.speaker, self.id, discourse, is_assistant)

    def prepared(
        self, extraction: Extraction, concept_name: Callable[[str], str], *, states_facts: bool
    ) -> PreparedUpdate:
        """What a store writes, with the facts of the extraction if ``states_facts``;
        ``concept_name`` says which concept an entity's label spells."""
        entities, triplets = stated_elements(extraction.facts) if states_facts else ((), ())
        return PreparedUpdate(
            id=self.id,
            text=self.text,
            statements=extraction.statements,
            neighbours=extraction.neighbours,
            source=self.source,
            session=self.session,
            speaker=self.speaker,
            speaker_concept=extraction.speaker_concept,
            timestamp=self.timestamp,
            metadata=self.metadata,
            path=tuple(self.path),
            key=self.key,
            expires_at=self.expires_at,
            entities=(
                *(entity_upsert(entity, concept_name) for entity in self.entities),
                *entities,
            ),
            triplets=(*map(triplet_upsert, self.triplets), *triplets),
            replaces=self.replace,
        )
