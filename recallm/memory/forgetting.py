"""The part of a memory that forgets: for good, at a moment, or from now on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import partial

from recallm.errors import InvalidInputError
from recallm.ground import checks
from recallm.memory.open_memory import Part
from recallm.model import (
    Forgotten,
    Moment,
    Selection,
    SelectionKind,
    SetExpiry,
    Withdraw,
)
from recallm.recall.neighbourhood import known_name
from recallm.recall.results import Receipt


class Forgetting(Part):
    """Forgets in one namespace, or in another one of the same store."""

    def forget(
        self,
        *,
        id: str | None = None,
        statement: str | None = None,
        source: str | None = None,
        session: str | None = None,
        concept: str | None = None,
        before: Moment | None = None,
        expired: bool = False,
        everything: bool = False,
        dry_run: bool = False,
    ) -> Forgotten:
        """Forget for good what exactly one argument selects; return how much was forgotten (all
        counts are 0 where nothing is stored under a name). With ``dry_run``, nothing changes: the
        result counts what would go.

        ``id``: a passage; ``statement``: one statement, by its id; ``source``; ``session``: by its
        name (or the source, where no session was given); ``concept``: each statement, fact and cell
        of a table that mentions it, by its label or name; ``before``: what arrived before a t,
        or was said before a moment (as in ``recall``; of a day its start); ``expired``: what has
        expired by now. A passage goes with all that no other passage brought (docs/namespaces.md
        has the table). Afterwards the memory is as if the text had never been added; only t does
        not go back.
        ``erasure_pending`` in the result: the bytes leave the file later (``Forgotten``).

        Raises:
            InvalidInputError: not exactly one argument, or one that cannot be used.
            StoreError: the store failed; nothing was forgotten.

        """
        self._opened.check_open()
        kind, value = _selected(
            id=id,
            statement=statement,
            source=source,
            session=session,
            concept=concept,
            before=before,
            expired=expired,
            everything=everything,
        )
        if kind == "expired":
            value = self._opened.clock()
        if kind == "concept":
            with self._opened.reader() as reader:
                value = known_name(reader, str(value), self._opened.concept_name)
        selection = Selection(kind=kind, value=value, dry_run=checks.flag(dry_run, "dry_run"))
        return self._opened.store.forget(self._opened.name, selection)

    def expire(self, moments: Mapping[str, datetime | None]) -> int:
        """Set when passages expire: passage id → aware moment, or None for never. Return how many
        of the passages exist.

        Raises:
            InvalidInputError: a moment cannot be used; nothing was changed.
            StoreError: the store failed; nothing was changed.

        """
        self._opened.check_open()
        checked = {
            checks.string(id, "moments"): checks.timestamp(moment, "moments")
            for id, moment in checks.mapping(moments, "moments").items()
        }
        return self._opened.store.amend(self._opened.name, SetExpiry(expires_at=checked))

    def withdraw(self, ids: Collection[str], *, undo: bool = False) -> int:
        """Withdraw the passages with these ids: what was said and does not stand any more, such as
        a message that was edited. Return how many passages changed.

        From the next t on they are not recalled, and nothing shows what only they say; with
        ``as_of`` an earlier t, or a moment at which the latest update had an earlier t, they are
        recalled as before. With ``undo``, or where such a passage is written again, they are as if
        they had never been withdrawn. Nothing is forgotten: ``forget`` and ``stats`` reach them.

        >>> from recallm import RecallM
        >>> memory = RecallM()
        >>> red = memory.update("My bike is red.")
        >>> memory.withdraw([red.id])
        1
        >>> memory.recall("What colour is my bike?").text
        ''
        >>> memory.recall("What colour is my bike?", as_of=red.t_index).text
        'My bike is red.'

        Raises:
            InvalidInputError: an argument cannot be used.
            StoreError: the store failed; nothing was changed.

        """
        self._opened.check_open()
        amendment = Withdraw(ids=checks.strings(ids, "ids"), undo=checks.flag(undo, "undo"))
        return self._opened.store.amend(self._opened.name, amendment)

    def erase_namespace(self, namespace: str) -> Receipt:
        """Forget everything that ``namespace`` holds, such as the data of one user who asks for
        that; return the receipt. Other namespaces stay.

        Raises:
            InvalidInputError: ``namespace`` cannot be used.
            StoreError: the store failed; nothing was forgotten.

        """
        erased = self._opened.named(namespace)
        selection = Selection(kind="everything", value=True)
        forgotten = erased.store.forget(erased.name, selection)
        return Receipt.of(forgotten, action="erase", namespace=erased.name, at=erased.clock())


_SELECTIONS: Mapping[SelectionKind, Callable[[object, str], str | int | datetime | None]] = {
    "id": checks.optional_name,
    "statement": partial(checks.optional, checks.string),
    "source": checks.optional_name,
    "session": checks.optional_name,
    "concept": partial(checks.optional, checks.string),
    "before": checks.moment,
    "expired": checks.flag,
    "everything": checks.flag,
}
"""One check for each argument of ``forget``."""


def _selected(**given: object) -> tuple[SelectionKind, str | int | datetime]:
    """The arguments of ``forget``, of which exactly one is given. ``concept`` is a label, not yet a
    concept's name; ``expired`` is True, not yet a moment."""
    chosen: list[tuple[SelectionKind, str | int | datetime]] = []
    for kind, check in _SELECTIONS.items():
        value = check(given[kind], kind)
        if value is not None and value is not False:
            chosen.append((kind, value))
    if len(chosen) != 1:
        raise InvalidInputError(
            f"forget takes exactly one of {', '.join(list(_SELECTIONS)[:-2])}, "
            f"expired=True, everything=True; {len(chosen)} were given",
            argument="forget",
        )
    return chosen[0]
