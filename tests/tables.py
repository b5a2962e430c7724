"""Tables of cases: one test a table, which reports every wrong row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Signature, signature
from typing import Any

import pytest


def each_row(rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with each row (a tuple: with its values), and fail with all rows that are wrong.

    Parameters behind those of the row are fixtures, the same for all rows.
    """
    table = [row if isinstance(row, tuple) else (row,) for row in rows]

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        parameters = list(signature(check).parameters.values())

        @wraps(check)
        def test(**fixtures: Any) -> None:
            wrong: list[str] = []
            for row in table:
                try:
                    check(*row, **fixtures)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - it is reported
                    wrong.append(f"{row!r}: {error!r}")
            assert table, "a table without rows"
            assert not wrong, "\n".join([f"{len(wrong)} of {len(table)} rows", *wrong])

        del test.__wrapped__  # or pytest would ask for the row
        vars(test)["__signature__"] = Signature(parameters[len(table[0]) :])
        return test

    return decorate
