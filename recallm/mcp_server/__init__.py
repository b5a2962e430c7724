"""A server of the Model Context Protocol (MCP): one namespace of a memory as tools for any
client, over standard input and output.

The package needs the extra ``mcp``. The official SDK is imported here alone.
"""

import importlib.util

from recallm.errors import MissingDependencyError

if importlib.util.find_spec("mcp") is None:
    raise MissingDependencyError("mcp", extra="mcp")

from recallm.mcp_server.server import create_server, serve_stdio

__all__ = ["create_server", "serve_stdio"]
