"""What tests need of the system: tools that pip does not install, and children of a process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NoReturn

import pytest


def skip_for_want_of_a_tool(reason: str) -> NoReturn:
    """Skip a test, or fail it where all tools are required (RECALLM_REQUIRE_ALL=1, as in CI)."""
    if os.environ.get("RECALLM_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def in_child(work: Callable[[], object]) -> int:
    """Fork; the child does ``work`` and exits with 0, or with 1 where ``work`` raises."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException as error:  # noqa: BLE001 - the parent only sees the status
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)
    return child
