"""What a store author tests with: an oracle, a suite, strategies and a state machine.

``DictStore`` needs nothing but recallm; the rest imports pytest and Hypothesis when first named.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from recallm.testing.dict_store import DictStore

if TYPE_CHECKING:
    from recallm.testing.stateful import StoreMachine
    from recallm.testing.store_suite import StoreSuite

__all__ = ["DictStore", "StoreMachine", "StoreSuite"]

_LAZY = {
    "StoreMachine": "recallm.testing.stateful",
    "StoreSuite": "recallm.testing.store_suite",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
