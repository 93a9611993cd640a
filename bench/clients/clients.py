"""The Python clients through the gateway: prints a JSON line for each call that came back as it should."""

import json
import os
import sys
from importlib.metadata import version

url = sys.argv[1]
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # the table comes from a server otherwise
messages = [{"role": "user", "content": "hello"}]
parameters = {"type": "object", "properties": {"word": {"type": "string"}}}
tools = [{"type": "function", "function": {"name": "look", "description": "Looks up.", "parameters": parameters}}]


def tell(client, call, came):
    ok = came.startswith("Grüße ") if isinstance(came, str) else came is True
    print(json.dumps({"client": f"{client} {version(client)}", "call": call, "ok": ok, "came": str(came)}), flush=True)


import openai

client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
chat = client.chat.completions
tell("openai", "chat completions", chat.create(model="m", messages=messages).choices[0].message.content)
stream = chat.create(model="m", messages=messages, stream=True)
tell("openai", "chat completions, streamed", "".join(c.choices[0].delta.content or "" for c in stream))
called = chat.create(model="m", messages=messages, tools=tools).choices[0].message.tool_calls[0].function
tell("openai", "chat completions, tools", json.loads(called.arguments) == {"word": "cat"})
first = client.responses.create(model="m", input="hello")
tell("openai", "responses", first.output_text)
tell("openai", "responses, continued", client.responses.create(model="m", input="and?", previous_response_id=first.id).output_text)
with client.responses.stream(model="m", input="hello") as streamed:
    tell("openai", "responses, streamed", streamed.get_final_response().output_text)
tell("openai", "completions", client.completions.create(model="m", prompt="hello").choices[0].text)
embedded = client.embeddings.create(model="m", input="a", encoding_format="float")
tell("openai", "embeddings", embedded.data[0].embedding == [0.5, -1])
tell("openai", "models", [m.id for m in client.models.list()] == ["m"])
azure = openai.AzureOpenAI(azure_endpoint=url, api_key="k", api_version="2025-04-01-preview", max_retries=0)
tell("openai", "chat completions of Azure", azure.chat.completions.create(model="m", messages=messages).choices[0].message.content)

import anthropic

claude = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
body = {"model": "m", "max_tokens": 100, "messages": messages}
tell("anthropic", "messages", claude.messages.create(**body).content[0].text)
with claude.messages.stream(**body) as streamed:
    tell("anthropic", "messages, streamed", "".join(streamed.text_stream))
used = claude.messages.create(**body, tools=[{"name": "look", "description": "Looks up.", "input_schema": parameters}])
tell("anthropic", "messages, tools", used.content[-1].input == {"word": "cat"})
tell("anthropic", "counted tokens", claude.messages.count_tokens(model="m", messages=messages).input_tokens == 4)

import litellm

litellm.telemetry = False
to_openai = {"model": "openai/m", "api_base": f"{url}/v1", "api_key": "k", "num_retries": 0}
tell("litellm", "completion of openai", litellm.completion(messages=messages, **to_openai).choices[0].message.content)
stream = litellm.completion(messages=messages, stream=True, **to_openai)
tell("litellm", "completion of openai, streamed", "".join(c.choices[0].delta.content or "" for c in stream))
to_claude = {"model": "anthropic/m", "api_base": url, "api_key": "k", "num_retries": 0, "max_tokens": 100}
for call, ask in {
    "completion of anthropic": lambda: litellm.completion(messages=messages, **to_claude).choices[0].message.content,
    "responses": lambda: litellm.responses(input="hello", **to_openai).output_text,
    "embedding": lambda: litellm.embedding(input=["a"], encoding_format="float", **to_openai).data[0]["embedding"] == [0.5, -1],
}.items():
    try:
        tell("litellm", call, ask())
    except Exception as error:
        print(json.dumps({"client": f"litellm {version('litellm')}", "call": call, "ok": False, "came": str(error)}), flush=True)
