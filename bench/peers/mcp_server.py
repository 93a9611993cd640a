"""Tools behind MCP's Python SDK: `python mcp_server.py` over standard streams, `python mcp_server.py PORT` over HTTP."""

import sys

try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:  # before version 2
    from mcp.server.fastmcp import FastMCP as Server

server = Server("drawer")
amounts = []


@server.tool()
def add(amount: int) -> str:
    """Adds to the drawer."""
    amounts.append(amount)
    return f"there are {sum(amounts)} now"


@server.tool()
def crash() -> str:
    """Ends the server."""
    import os

    os._exit(1)


if len(sys.argv) > 1:
    import uvicorn

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
else:
    server.run("stdio")
