"""A server of the Model Context Protocol (MCP): one namespace of a memory as tools for any
client, over standard input and output or over HTTP.

The package needs the extra ``mcp``. The official SDK is imported here alone.
"""

import importlib.util

from recallm.errors import MissingDependencyError

if importlib.util.find_spec("mcp") is None:
    raise MissingDependencyError("mcp", extra="mcp")

from recallm.mcp_server.server import create_server
from recallm.mcp_server.serving import check_exposure, serve_http, serve_stdio

__all__ = ["check_exposure", "create_server", "serve_http", "serve_stdio"]
