"""``apply``: what becomes of each update of a batch, inside of one transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from recallm.errors import ConflictError, RecallMError, UnknownEntityError, UnknownPassageError
from recallm.model import PreparedUpdate, text_digest
from recallm.stores.base import Applied
from recallm.stores.cypher.writing import OPEN_SESSION
from recallm.stores.neo4j.batch import Batch
from recallm.stores.neo4j.sizes import Sizes
from recallm.stores.neo4j.transaction import Row, Tx, rows
from recallm.stores.neo4j.values import item_key, key_of
from recallm.stores.neo4j.writing import lock, new_batch, write_batch

__all__ = ["apply"]


def apply(
    tx: Tx,
    namespace: str,
    updates: Sequence[PreparedUpdate],
    forget: Callable[[str, Collection[int]], object],
) -> list[Applied]:
    """See ``GraphStore.apply``. ``forget`` takes the updates at these t of a namespace's rows
    away: what others take the place of."""
    told = [update for update in updates if update.text is not None]
    state = lock(
        tx,
        namespace,
        ids={update.id for update in updates if update.text is not None or update.id},
        items={item_key(it.path, it.key) for it in told if it.key is not None},
    )
    passages: dict[str, tuple[int, str]] = {key: (t, digest) for key, t, digest in state["known"]}
    pending = _Pending(tx=tx, state=state, forget=forget)
    sizes = Sizes.of(state)
    applied: list[Applied] = []
    for index, update in enumerate(updates):
        id = key_of(update.id)
        new = None if update.text is None else text_digest(update.text)
        alone = new is None and update.id == ""
        stored, digest = (None, "") if alone else passages.get(id, (None, ""))
        if stored is not None and new == digest:
            applied.append(Applied(t_index=stored, duplicate=True))
            continue
        refusal = _refusal(update, index, known=stored is not None) or sizes.refusal(update)
        if refusal is not None:
            # What an earlier update does wrong is said first; all of it is rolled back.
            pending.write()
            raise refusal
        if new is None and stored is not None:
            pending.join(update, stored)
            applied.append(Applied(t_index=stored))
            continue
        for gone in pending.add(update, stored):
            passages.pop(gone, None)
        if new is not None:
            passages[id] = (pending.t_index, new)
        applied.append(Applied(t_index=pending.t_index))
    pending.write()
    sizes.write(tx, state["rows"])
    return applied


def _refusal(update: PreparedUpdate, index: int, *, known: bool) -> RecallMError | None:
    """What is wrong with an update that is no duplicate, ``known`` telling whether there is a
    passage with its id."""
    if update.text is not None and known and not update.replaces:
        return ConflictError(update.id, index=index)
    if update.text is None and update.id and not known:
        return UnknownPassageError(update.id)
    return None


@dataclass(slots=True)
class _Pending:
    """The updates of a batch that are not written yet, and those that they take the place of.

    What is to be forgotten is forgotten before what is pending is written, whatever came first:
    for passages that makes no difference. For entities, of which the latest upsert counts also
    when it is forgotten, it does: where some are pending, they are written before more is
    forgotten.
    """

    tx: Tx
    state: Row
    forget: Callable[[str, Collection[int]], object]
    t_index: int = field(init=False)
    _fresh: dict[tuple[int, int], PreparedUpdate] = field(default_factory=dict)
    _shows_graph: bool = False
    _doomed: set[int] = field(default_factory=set)
    _kept: dict[str, dict[int, str]] = field(default_factory=dict)
    _item_of: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.t_index = self.state["t"]
        for item, t, id in self.state["kept"]:
            self._keep(item, t, id)

    def join(self, update: PreparedUpdate, t_index: int) -> None:
        """Take in what joins the passage at ``t_index``."""
        if update.entities or update.triplets:
            self._take(update, t_index, place=len(self._fresh) + 1)

    def add(self, update: PreparedUpdate, replaced: int | None) -> Collection[str]:
        """Take in an update at the next t, which takes the place of the passage at ``replaced``,
        and of items; the ids (by ``key_of``) of all these."""
        self.t_index += 1
        gone: dict[int, str] = {}
        if replaced is not None:
            gone[replaced] = key_of(update.id)
        item = None
        if update.text is not None and update.key is not None:
            item = item_key(update.path, update.key)
            gone |= self._kept.get(item, {})
        if gone:
            self._doom(gone)
        if item is not None:
            self._keep(item, self.t_index, key_of(update.id))
        self._take(update, self.t_index, place=0)
        return gone.values()

    def _take(self, update: PreparedUpdate, t_index: int, place: int) -> None:
        self._fresh[t_index, place] = update
        self._shows_graph |= bool(update.entities or update.triplets)

    def _keep(self, item: str, t_index: int, id: str) -> None:
        self._kept.setdefault(item, {})[t_index] = id
        self._item_of[t_index] = item

    def _doom(self, ts: Collection[int]) -> None:
        if self._shows_graph:
            self.write()
        for t in ts:
            # None of what is pending has joined another update: that shows something.
            if self._fresh.pop((t, 0), None) is None:
                self._doomed.add(t)
            item = self._item_of.pop(t, None)
            if item is not None:
                del self._kept[item][t]

    def write(self) -> None:
        """Forget and write all that is pending.

        Raises:
            UnknownEntityError: a triplet names an entity that is not there.
        """
        namespace = self.state["rows"]
        if self._doomed:
            self.forget(namespace, self._doomed)
            self._doomed = set()
            opened = rows(self.tx, OPEN_SESSION, {"namespace": namespace})[0]
            self.state = {**self.state, **opened}
        if self._fresh:
            batch = self._gather()
            write_batch(self.tx, batch, self.t_index)
            self._fresh = {}
            self._shows_graph = False
            self.state = {
                **self.state,
                "open_session": batch.open_session,
                "open_said": batch.open_said,
            }

    def _gather(self) -> Batch:
        """The rows of what is pending."""
        told = [(t_index, update) for (t_index, _), update in self._fresh.items()]
        batch = new_batch(self.tx, self.state, told)
        for (t_index, _), update in self._fresh.items():
            batch.add(update, t_index)
            for triplet in update.triplets:
                for id in (triplet.subject, triplet.object):
                    if not batch.knows_entity(id):
                        raise UnknownEntityError(id)
        return batch
