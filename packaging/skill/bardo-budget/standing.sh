#!/bin/sh
# How the golem of this program stands, as JSON: sh standing.sh [TOOL [ARGUMENTS]]
# TOOL is another tool of the golem's agent, with its arguments as JSON: sh standing.sh remember '{"text":"the port is 8080"}'
: "${BARDO_MCP_URL:?this program does not run on a budget}"
arguments=${2:-}
curl -sS "$BARDO_MCP_URL" -H "Authorization: Bearer $BARDO_TOKEN" -H 'content-type: application/json' \
    -H 'accept: application/json, text/event-stream' \
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"${1:-standing}"'","arguments":'"${arguments:-"{}"}"'}}'
echo
