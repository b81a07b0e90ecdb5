import asyncio
import os
import sys
from pathlib import Path

from agents import Agent, Runner, function_tool, set_default_openai_api, set_default_openai_client, set_tracing_disabled
from openai import AsyncOpenAI

set_tracing_disabled(True)
set_default_openai_client(AsyncOpenAI(api_key=os.environ["KEY"], base_url=os.environ["GATEWAY"] + "/v1"))
set_default_openai_api("chat_completions" if os.environ["FORMAT"] == "chat" else "responses")


@function_tool
def write_file(path: str, content: str) -> str:
    """Writes a file."""
    Path(path).write_text(content)
    return f"Wrote {path}."


agent = Agent(name="Editor", model=os.environ["MODEL"], instructions="You edit files.", tools=[write_file])
print(asyncio.run(Runner.run(agent, sys.argv[1])).final_output)
