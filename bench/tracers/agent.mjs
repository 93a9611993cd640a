// An agent with one tool under an instrumentation in JavaScript; the packages are those of the folder that it lies in:
// node agent.mjs MODEL-URL TRACES-URL openinference|openllmetry|ai-sdk|ai-sdk-legacy SESSION
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const [modelUrl, tracesUrl, name, session] = process.argv.slice(2);
const provider = new NodeTracerProvider({
  resource: resourceFromAttributes({ "service.name": "door" }),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: tracesUrl }))],
});
provider.register();
const tracer = trace.getTracer("agent");
const parameters = { type: "object", properties: { at: { type: "string" } }, required: ["at"] };
const look = { name: "look", description: "look at a thing", parameters };

const within = (span, attributes, work) =>
  tracer.startActiveSpan(span, { attributes }, async (open) => {
    try {
      return await work(open);
    } catch (e) {
      open.setStatus({ code: SpanStatusCode.ERROR, message: String(e) });
      throw e;
    } finally {
      open.end();
    }
  });

/** With the client of OpenAI, which both instrumentations patch. */
async function walk(OpenAI, callTool) {
  const client = new OpenAI({ baseURL: modelUrl, apiKey: "k" });
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "What colour is the door?" },
  ];
  const tools = [{ type: "function", function: look }];
  for (;;) {
    const answer = await client.chat.completions.create({
      model: "mock-model",
      messages,
      temperature: 0.5,
      tools,
    });
    const { message } = answer.choices[0];
    if (!message.tool_calls?.length) return message.content;
    messages.push(message);
    for (const { id, function: called } of message.tool_calls)
      messages.push({
        role: "tool",
        tool_call_id: id,
        content: await callTool(called.name, called.arguments),
      });
  }
}

const agents = {
  async openinference() {
    const { OpenAIInstrumentation } = await import("@arizeai/openinference-instrumentation-openai");
    const { setSession, setUser } = await import("@arizeai/openinference-core");
    const { default: OpenAI } = await import("openai");
    const instrumentation = new OpenAIInstrumentation();
    instrumentation.setTracerProvider(provider);
    instrumentation.manuallyInstrument(OpenAI);
    const whose = { "session.id": session, "user.id": "ann" };
    const callTool = (tool, given) =>
      within(
        tool,
        { ...whose, "openinference.span.kind": "TOOL", "tool.name": tool, "input.value": given },
        (span) => {
          span.setAttribute("output.value", "a red door");
          return "a red door";
        },
      );
    const told = setUser(setSession(context.active(), { sessionId: session }), { userId: "ann" });
    return await context.with(told, () =>
      within("agent", { ...whose, "openinference.span.kind": "AGENT" }, () => walk(OpenAI, callTool)),
    );
  },
  async openllmetry() {
    const { OpenAIInstrumentation } = await import("@traceloop/instrumentation-openai");
    const { default: OpenAI } = await import("openai");
    const instrumentation = new OpenAIInstrumentation({ traceContent: true });
    instrumentation.setTracerProvider(provider);
    instrumentation.manuallyInstrument(OpenAI);
    const whose = {
      "traceloop.association.properties.session_id": session,
      "traceloop.association.properties.user_id": "ann",
      "traceloop.workflow.name": "walk",
    };
    const callTool = (tool, given) => {
      const entity = { "traceloop.entity.name": tool, "traceloop.entity.input": given };
      return within(`${tool}.tool`, { ...whose, "traceloop.span.kind": "tool", ...entity }, (span) => {
        span.setAttribute("traceloop.entity.output", "a red door");
        return "a red door";
      });
    };
    const workflow = { ...whose, "traceloop.span.kind": "workflow", "traceloop.entity.name": "walk" };
    return await within("walk.workflow", workflow, () => walk(OpenAI, callTool));
  },
  "ai-sdk": async () => {
    const { OpenTelemetry } = await import("@ai-sdk/otel");
    return await withAiSdk(new OpenTelemetry({ tracer, runtimeContext: true }));
  },
  "ai-sdk-legacy": async () => {
    const { LegacyOpenTelemetry } = await import("@ai-sdk/otel");
    return await withAiSdk(new LegacyOpenTelemetry({ tracer }));
  },
};

async function withAiSdk(integration) {
  const { generateText, isStepCount, jsonSchema, tool } = await import("ai");
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const models = createOpenAICompatible({ name: "mock", baseURL: modelUrl, apiKey: "k" });
  const { text } = await generateText({
    model: models("mock-model"),
    system: "Be brief.",
    prompt: "What colour is the door?",
    temperature: 0.5,
    stopWhen: isStepCount(3),
    tools: {
      look: tool({
        description: look.description,
        inputSchema: jsonSchema(parameters),
        execute: async () => "a red door",
      }),
    },
    runtimeContext: { sessionId: session, userId: "ann" },
    telemetry: {
      isEnabled: true,
      integrations: [integration],
      includeRuntimeContext: { sessionId: true, userId: true },
    },
  });
  return text;
}

const packages = {
  openinference: "@arizeai/openinference-instrumentation-openai",
  openllmetry: "@traceloop/instrumentation-openai",
  "ai-sdk": "@ai-sdk/otel",
  "ai-sdk-legacy": "@ai-sdk/otel",
};
const said = await agents[name]();
await provider.shutdown();
const manifest = join(import.meta.dirname, "node_modules", packages[name], "package.json");
const { version } = JSON.parse(readFileSync(manifest, "utf8"));
const form = name === "ai-sdk-legacy" ? ", older names" : "";
console.log(JSON.stringify({ tracer: `${packages[name]} ${version}${form}`, said }));
