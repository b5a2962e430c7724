"""`GraphStore.forget`: which updates a selection changes, and what is left of them."""

from __future__ import annotations

from functools import partial

from recallm.model import (
    ElementKey,
    Forgotten,
    GraphNames,
    Selection,
    parse_statement_id,
    t_index_of,
)
from recallm.stores.semantics.cutting import cut, without_concept
from recallm.stores.semantics.rows import Changes, NamespaceTotals, Rows
from recallm.stores.semantics.writing import Ledger


class DryRun(Exception):
    """Ends the transaction of a dry run; ``forgotten`` is what the selection would have taken."""

    def __init__(self, forgotten: Forgotten) -> None:
        super().__init__()
        self.forgotten = forgotten


def forget(rows: Rows, selection: Selection) -> Forgotten:
    """See `GraphStore.forget`.

    Raises:
        DryRun: ``selection`` is a dry run; the store rolls back.
    """
    forgotten = _forget(rows, selection)
    if selection.dry_run:
        raise DryRun(forgotten)
    return forgotten


def _forget(rows: Rows, selection: Selection) -> Forgotten:
    kind, value = selection.kind, selection.value
    id, position = parse_statement_id(str(value)) or ("", 0)
    opened = rows.open(ids=[id] if kind == "statement" else ())
    if kind == "everything":
        return _forget_everything(rows, opened.totals) if opened.totals.t else Forgotten()
    ledger = Ledger(rows, opened.totals)
    if isinstance(value, GraphNames):
        ledger.drop({*value.entities, *value.triplets})
    elif kind == "concept":
        name = str(value)
        # An entity on no concept has one without a name.
        keys, ids = rows.touching(name) if name else ([], [])
        elements: set[ElementKey] = {*ids, *rows.triplets_of(ids)}
        ts = {t_index_of(key) for key in keys} | ledger.showing(elements)
        ledger.change(ts, partial(without_concept, name=name, elements=elements))
    elif kind == "statement":
        ts = {t for t, _ in opened.passages.values()}
        ledger.change(ts, lambda update: cut(update, {position}))
    else:
        ledger.change(rows.select(selection), lambda _: None)
    return ledger.settle()


def _forget_everything(rows: Rows, namespace: NamespaceTotals) -> Forgotten:
    forgotten = rows.delete_everything()
    rows.write(
        Changes(
            namespace=NamespaceTotals(
                t=namespace.t,
                origin=namespace.origin,
                revision=namespace.revision + 1,
                vocabulary=namespace.vocabulary + 1,
            )
        )
    )
    return forgotten
