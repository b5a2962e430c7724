"""LangChain's own suites of tools."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_recallm import create_recallm_tools
from recallm import RecallM

EXAMPLES = {"query": "Where does Ann live?"}, {"text": "Ann moved to Bergen."}, {"about": "Ann"}


@pytest.fixture(params=range(3), ids=["recall", "save", "forget"], autouse=True)
def chosen(request: pytest.FixtureRequest, stored: RecallM) -> None:
    number: int = request.param
    request.instance.tested = create_recallm_tools(stored)[number]
    request.instance.example = EXAMPLES[number]


class Suite:
    """What LangChain's own tests of a tool are given."""

    tested: BaseTool
    example: dict[str, Any]

    @property
    def tool_constructor(self) -> BaseTool:
        return self.tested

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return self.example


class TestUnit(Suite, ToolsUnitTests):
    pass


class TestIntegration(Suite, ToolsIntegrationTests):
    pass
