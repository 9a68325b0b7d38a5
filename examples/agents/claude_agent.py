"""The Claude Agent SDK on a budget: bardo wrap --credit 2 -- python claude_agent.py

The SDK starts Claude Code, which gets its address and its token from the environment as this program does."""

import asyncio
import os

from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, ClaudeSDKError, TextBlock, query


async def main() -> None:
    options = ClaudeAgentOptions(model=os.environ.get("MODEL"), max_turns=3, cli_path=os.environ.get("CLAUDE"))
    try:
        async for message in query(prompt="Say what a budget is, in one sentence.", options=options):
            if isinstance(message, AssistantMessage):
                print("".join(block.text for block in message.content if isinstance(block, TextBlock)))
    except ClaudeSDKError as refused:
        # The answer of the gateway stands in the words of the error.
        if "402" not in str(refused):
            raise
        print(f"out of money: {refused}")


asyncio.run(main())
