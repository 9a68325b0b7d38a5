"""LangGraph on a budget: bardo wrap --credit 2 -- python langgraph_agent.py

Nothing here knows of Bardo but the last lines, which end well when the money is gone."""

import os

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from openai import APIStatusError


@tool
def length(text: str) -> int:
    """How many letters a text has."""
    return len(text)


model = ChatOpenAI(model=os.environ.get("MODEL", "gpt-5-mini"), max_retries=1).bind_tools([length])
graph = StateGraph(MessagesState)
graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([length]))
graph.add_edge(START, "model")
graph.add_conditional_edges("model", tools_condition)
graph.add_edge("tools", "model")
try:
    ended = graph.compile().invoke({"messages": [("user", "How long is the word budget? Use the tool.")]})
    print(ended["messages"][-1].content)
except APIStatusError as refused:
    if refused.status_code != 402:
        raise
    print(f"out of money: {refused.message}")
