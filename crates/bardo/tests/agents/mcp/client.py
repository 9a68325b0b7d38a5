"""The official Python client of MCP: lists what there is, calls what it is told to, and says what came back, as JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


async def main(told):
    if "url" in told:
        headers = {"Authorization": f"Bearer {told['token']}"}
        server = streamable_http_client(told["url"], http_client=httpx2.AsyncClient(headers=headers, timeout=30))
    else:
        server = StdioServerParameters(command=told["command"], args=told["args"], env=told["env"])
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        results = []
        for name, arguments in told["calls"]:
            try:
                came = await client.call_tool(name, arguments)
                text = " ".join(block.text for block in came.content if block.type == "text")
                results.append({"wrong": bool(came.is_error), "text": text, "value": came.structured_content})
            except MCPError as why:
                results.append({"wrong": True, "text": str(why), "value": None})
        print(json.dumps({"tools": [tool.name for tool in tools], "results": results}))


asyncio.run(main(json.load(sys.stdin)))
