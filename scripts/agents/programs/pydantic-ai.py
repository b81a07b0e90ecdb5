import os
import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

gateway, key, model = (os.environ[name] for name in ("GATEWAY", "KEY", "MODEL"))


def openai() -> OpenAIProvider:
    return OpenAIProvider(api_key=key, base_url=gateway + "/v1")


models = {
    "chat": lambda: OpenAIChatModel(model, provider=openai()),
    "responses": lambda: OpenAIResponsesModel(model, provider=openai()),
    "messages": lambda: AnthropicModel(
        model, provider=AnthropicProvider(api_key=key, base_url=gateway + "/v1/anthropic")
    ),
    "generate": lambda: GoogleModel(model, provider=GoogleProvider(api_key=key, base_url=gateway + "/v1/gemini")),
}
agent = Agent(models[os.environ["FORMAT"]]())


@agent.tool_plain
def write_file(path: str, content: str) -> str:
    """Writes a file."""
    Path(path).write_text(content)
    return f"Wrote {path}."


print(agent.run_sync(sys.argv[1]).output)
