import os
import sys
from pathlib import Path

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

gateway, key, model = (os.environ[name] for name in ("GATEWAY", "KEY", "MODEL"))
models = {
    "chat": lambda: ChatOpenAI(model=model, api_key=key, base_url=gateway + "/v1", use_responses_api=False),
    "responses": lambda: ChatOpenAI(model=model, api_key=key, base_url=gateway + "/v1", use_responses_api=True),
    "messages": lambda: ChatAnthropic(model=model, api_key=key, base_url=gateway + "/v1/anthropic"),
    "generate": lambda: ChatGoogleGenerativeAI(model=model, api_key=key, base_url=gateway + "/v1/gemini"),
}


@tool
def write_file(path: str, content: str) -> str:
    """Writes a file."""
    Path(path).write_text(content)
    return f"Wrote {path}."


agent = create_agent(models[os.environ["FORMAT"]](), tools=[write_file])
print(agent.invoke({"messages": [{"role": "user", "content": sys.argv[1]}]})["messages"][-1].text)
