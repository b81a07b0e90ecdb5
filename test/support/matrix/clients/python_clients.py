"""The official SDKs in Python, driven by lines of JSON: one request a line in, one answer a line out."""

import json
import sys

import anthropic
import httpx2 as httpx
import openai
from google import genai
from google.genai import types

base_url, key = sys.argv[1], sys.argv[2]
last = {}


def note(response):
    response.read() if response.status_code != 200 else None
    body = response.text if response.status_code != 200 else ""
    last.update(status=response.status_code, headers=dict(response.headers), body=body)


def network():
    return httpx.Client(event_hooks={"response": [note]}, timeout=60)


chat = openai.OpenAI(api_key=key, base_url=f"{base_url}/v1", max_retries=0, http_client=network())
messages = anthropic.Anthropic(
    api_key=key, base_url=f"{base_url}/v1/anthropic", max_retries=0, http_client=network()
)
gemini = genai.Client(
    api_key=key, http_options=types.HttpOptions(base_url=f"{base_url}/v1/gemini", httpx_client=network())
)


def dump(answer):
    return answer.model_dump(mode="json", by_alias=True, exclude_unset=True)


def ask_chat(params, streamed):
    if not streamed:
        return dump(chat.chat.completions.create(**params))
    with chat.chat.completions.stream(**params) as stream:
        try:
            return dump(stream.get_final_completion())
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError):
            # The helper takes an answer that was cut for an error, and has it all the same.
            return dump(stream.current_completion_snapshot)


def ask_responses(params, streamed):
    if not streamed:
        return dump(chat.responses.create(**params))
    # `get_final_response` knows answers that are complete only.
    ends = ("response.completed", "response.incomplete", "response.failed")
    with chat.responses.stream(**params) as stream:
        for event in stream:
            if event.type == "error":
                raise RuntimeError(event.message)
            if event.type in ends:
                return dump(event.response)
    raise RuntimeError("the stream has no end")


# The newest API has no sampling, and the SDK no arguments for it.
sampling = ("temperature", "top_p", "top_k")


def ask_messages(params, streamed):
    extra = {name: params.pop(name) for name in sampling if name in params}
    if not streamed:
        return dump(messages.messages.create(**params, extra_body=extra))
    with messages.messages.stream(**params, extra_body=extra) as stream:
        return dump(stream.get_final_message())


def ask_generate(params, streamed):
    # From JSON, so that base64 becomes bytes, as a program has them.
    contents = [types.Content.model_validate_json(json.dumps(each)) for each in params["contents"]]
    config = types.GenerateContentConfig.model_validate_json(json.dumps(params["config"]))
    asked = {"model": params["model"], "contents": contents, "config": config}
    if streamed:
        return [dump(each) for each in gemini.models.generate_content_stream(**asked)]
    return [dump(gemini.models.generate_content(**asked))]


asks = {"chat": ask_chat, "responses": ask_responses, "messages": ask_messages, "generate": ask_generate}

for line in sys.stdin:
    request = json.loads(line)
    try:
        result = {"answer": asks[request["client"]](request["params"], request["streamed"])}
    except Exception as error:
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        result = {"error": {"message": f"{type(error).__name__}: {error}", "status": status}}
    print(json.dumps({**result, "last": last}), flush=True)
