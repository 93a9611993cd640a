"""An agent with one tool under an instrumentation in Python: python agent.py MODEL-URL TRACES-URL openinference|openllmetry SESSION"""
import json
import sys
from importlib.metadata import version

from openai import OpenAI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

model_url, traces_url, name, session = sys.argv[1:]
provider = TracerProvider(resource=Resource.create({"service.name": "door"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=traces_url)))
trace.set_tracer_provider(provider)
tracer = trace.get_tracer("agent")

parameters = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
look = {"type": "function", "function": {"name": "look", "description": "look at a thing", "parameters": parameters}}


def walk(call_tool):
    client = OpenAI(base_url=model_url, api_key="k")
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What colour is the door?"},
    ]
    while True:
        answer = client.chat.completions.create(model="mock-model", messages=messages, temperature=0.5, tools=[look])
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = call_tool(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


if name == "openinference":
    from openinference.instrumentation import using_attributes
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)

    def call_tool(tool, given):
        with tracer.start_as_current_span(tool) as span:
            span.set_attributes({"openinference.span.kind": "TOOL", "tool.name": tool, "input.value": given})
            span.set_attributes({"session.id": session, "user.id": "ann", "output.value": "a red door"})
            return "a red door"

    with using_attributes(session_id=session, user_id="ann"):
        said = walk(call_tool)
    package = "openinference-instrumentation-openai"
else:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    properties = {
        "traceloop.association.properties.session_id": session,
        "traceloop.association.properties.user_id": "ann",
    }

    def call_tool(tool, given):
        with tracer.start_as_current_span(f"{tool}.tool") as span:
            span.set_attributes({**properties, "traceloop.span.kind": "tool", "traceloop.entity.name": tool})
            span.set_attributes({"traceloop.entity.input": given, "traceloop.entity.output": "a red door"})
            return "a red door"

    with tracer.start_as_current_span("walk.workflow") as span:
        span.set_attributes({**properties, "traceloop.span.kind": "workflow", "traceloop.entity.name": "walk"})
        said = walk(call_tool)
    package = "opentelemetry-instrumentation-openai"

provider.shutdown()
print(json.dumps({"tracer": f"{package} {version(package)} (Python)", "said": said}))
