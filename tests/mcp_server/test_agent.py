"""The server's tools in a LangChain agent, through ``langchain-mcp-adapters``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

from recallm import RecallM
from recallm.adapting import CLOSING, OPENING
from tests.langchain.chat_models import ScriptedModel, call
from tests.mcp_server.servers import http_server

TOKEN = "0123456789abcdef0123456789abcdef"


@pytest.mark.nightly  # test_transports.py: the same tools without an agent
async def test_an_agent_remembers_and_recalls(tmp_path: Path) -> None:
    model = ScriptedModel(
        lines=[
            call("remember", "1", text="Ann moved to Porto.", speaker="user"),
            call("recall", "2", query="Where does Ann live?"),
            call("recall", "3", query="", namespace="other"),
            "In Porto.",
        ]
    )
    options = ["--db", "agent.db", "--namespace", "ann"]
    with http_server(tmp_path, *options, RECALLM_MCP_TOKEN=TOKEN) as url:
        connection: Any = {
            "transport": "streamable_http",
            "url": url,
            "headers": {"Authorization": f"Bearer {TOKEN}"},
        }
        client = MultiServerMCPClient({"memory": connection})
        async with client.session("memory") as session:
            agent: Any = create_agent(model, await load_mcp_tools(session))
            result = await agent.ainvoke({"messages": [HumanMessage("Where does Ann live?")]})
    assert result["messages"][-1].text == "In Porto."
    assert {"remember", "recall", "read_facts"} <= {tool.name for tool in model.tools}
    told = [message for message in model.sent[-1] if isinstance(message, ToolMessage)]
    saved, recalled, refused = told
    assert "Saved as" in saved.text
    lines = recalled.text.splitlines()
    assert (lines[0], lines[-1]) == (OPENING, CLOSING)
    assert lines[2].endswith("Human: Ann moved to Porto.")
    assert recalled.artifact["structured_content"]["statements"][0]["speaker"] == "Human"
    assert refused.status == "error"
    assert "namespace" in refused.text
    with RecallM(tmp_path / "agent.db", namespace="ann") as memory:
        assert [passage.text for passage in memory.passages()] == ["Ann moved to Porto."]
