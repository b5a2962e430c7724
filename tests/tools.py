"""Tools that tests need and that pip does not install."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def skip_for_want_of_a_tool(reason: str) -> NoReturn:
    """Skip a test, or fail it where all tools are required (RECALLM_REQUIRE_ALL=1, as in CI)."""
    if os.environ.get("RECALLM_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
