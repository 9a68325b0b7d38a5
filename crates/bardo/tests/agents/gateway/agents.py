"""Agents as people have them, unmodified: only the base address and the key are set, in the environment.

Arguments: what to do. Prints one JSON object.
"""

import json
import sys

MODEL = "m"
TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]


def openai_basic():
    from openai import OpenAI
    client = OpenAI()
    answer = client.chat.completions.create(model=MODEL, max_tokens=24, messages=[{"role": "user", "content": "Say hello."}])
    chunks, text = 0, ""
    stream = client.chat.completions.create(
        model=MODEL, max_tokens=24, stream=True, messages=[{"role": "user", "content": "Say hello."}])
    for chunk in stream:
        # As most loops in the world do it.
        text += chunk.choices[0].delta.content or ""
        chunks += 1
    tools = client.chat.completions.create(
        model=MODEL, max_tokens=48, tools=TOOLS, tool_choice="required",
        messages=[{"role": "user", "content": "What is the weather in Paris? Use the tool."}])
    calls = tools.choices[0].message.tool_calls or []
    return {"used": answer.usage.completion_tokens, "chunks": chunks, "text": len(text), "tools": len(calls)}


def anthropic_basic():
    from anthropic import Anthropic
    client = Anthropic()
    answer = client.messages.create(model=MODEL, max_tokens=24, messages=[{"role": "user", "content": "Say hello."}])
    text = ""
    with client.messages.stream(model=MODEL, max_tokens=24, messages=[{"role": "user", "content": "Say hello."}]) as stream:
        for piece in stream.text_stream:
            text += piece
    tool = {"name": "get_weather", "description": "The weather in a city.", "input_schema": TOOLS[0]["function"]["parameters"]}
    used = client.messages.create(model=MODEL, max_tokens=48, tools=[tool],
                                  messages=[{"role": "user", "content": "What is the weather in Paris? Use the tool."}])
    tools = [block for block in used.content if block.type == "tool_use"]
    return {"used": answer.usage.output_tokens, "text": len(text), "tools": len(tools)}


def langchain_agent():
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    @tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"sunny in {city}"

    model = ChatOpenAI(model=MODEL, max_tokens=48)
    streamed = "".join(piece.content for piece in model.stream("Say hello."))
    messages = [HumanMessage("What is the weather in Paris? Use the tool.")]
    answer = model.bind_tools([get_weather], tool_choice="any").invoke(messages)
    messages.append(answer)
    for call in answer.tool_calls:
        messages.append(ToolMessage(get_weather.invoke(call["args"]) if "city" in call["args"] else "?", tool_call_id=call["id"]))
    last = model.invoke(messages)
    return {"streamed": len(streamed), "tools": len(answer.tool_calls), "last": type(last).__name__}


def refused():
    import anthropic
    import openai
    told = {}
    try:
        openai.OpenAI().chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "hi"}])
    except openai.APIStatusError as why:
        told["openai"] = [type(why).__name__, why.status_code, why.code, why.body["message"]]
    try:
        anthropic.Anthropic().messages.create(model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "hi"}])
    except anthropic.APIStatusError as why:
        told["anthropic"] = [type(why).__name__, why.status_code, why.body["error"]["code"], why.body["error"]["message"]]
    return told


print(json.dumps({"openai": openai_basic, "anthropic": anthropic_basic, "langchain": langchain_agent,
                  "refused": refused}[sys.argv[1]]()))
