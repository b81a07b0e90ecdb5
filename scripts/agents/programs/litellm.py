import json
import os
import sys
from pathlib import Path

import litellm

gateway, key, model = (os.environ[name] for name in ("GATEWAY", "KEY", "MODEL"))
prefix, base = {
    "chat": ("openai/", gateway + "/v1"),
    "responses": ("openai/responses/", gateway + "/v1"),
    "messages": ("anthropic/", gateway + "/v1/anthropic"),
    "generate": ("gemini/", gateway + "/v1/gemini/v1beta"),
}[os.environ["FORMAT"]]
parameters = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
tools = [{"type": "function", "function": {"name": "write_file", "parameters": parameters}}]
messages = [{"role": "user", "content": sys.argv[1]}]
for _ in range(5):
    answer = litellm.completion(prefix + model, messages, tools=tools, api_base=base, api_key=key).choices[0].message
    messages.append(answer)
    for call in answer.tool_calls or []:
        given = json.loads(call.function.arguments)
        Path(given["path"]).write_text(given["content"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "Wrote it."})
    if not answer.tool_calls:
        print(answer.content)
        break
