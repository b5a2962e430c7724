"""What the author of a LlamaIndex property graph store tests with: ``PropertyGraphStoreSuite``.

It imports pytest when first named.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llama_index_recallm.testing.property_graph_suite import PropertyGraphStoreSuite

__all__ = ["PropertyGraphStoreSuite"]

_MODULE = f"{__name__}.property_graph_suite"
_TOPICS = f"{__name__}.suite"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _TOPICS not in sys.modules:
        import pytest

        pytest.register_assert_rewrite(_TOPICS)
    return getattr(import_module(_MODULE), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
