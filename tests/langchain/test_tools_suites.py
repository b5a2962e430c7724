"""LangChain's own suites of tools, on SQLite and on Neo4j."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_recallm import create_recallm_tools
from recallm import RecallM


class Suite:
    """What LangChain's own tests of a tool are given."""

    number: int
    example: dict[str, Any]
    tools: list[BaseTool]

    @pytest.fixture(autouse=True)
    def _tools(self, stored: RecallM) -> None:
        self.tools = create_recallm_tools(stored)

    @property
    def tool_constructor(self) -> BaseTool:
        return self.tools[self.number]

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return self.example


class Recall(Suite):
    number = 0
    example = {"query": "Where does Ann live?"}  # noqa: RUF012


class Save(Suite):
    number = 1
    example = {"text": "Ann moved to Bergen."}  # noqa: RUF012


class Forget(Suite):
    number = 2
    example = {"about": "Ann"}  # noqa: RUF012


class TestRecallUnit(Recall, ToolsUnitTests):
    pass


class TestRecallIntegration(Recall, ToolsIntegrationTests):
    pass


class TestSaveUnit(Save, ToolsUnitTests):
    pass


class TestSaveIntegration(Save, ToolsIntegrationTests):
    pass


class TestForgetUnit(Forget, ToolsUnitTests):
    pass


class TestForgetIntegration(Forget, ToolsIntegrationTests):
    pass
