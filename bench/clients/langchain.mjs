// LangChain's models through the gateway: prints a JSON line for each call that came back as it should. Its packages are those
// of the folder that is named: node bench/clients/langchain.mjs URL FOLDER
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [url, folder] = process.argv.slice(2);
const require = createRequire(join(resolve(folder), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { ChatOpenAI, OpenAIEmbeddings } = await load("@langchain/openai");
const { ChatAnthropic } = await load("@langchain/anthropic");
const tell = (name, call, came) => {
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"));
  const ok = typeof came === "string" ? came.startsWith("Grüße ") : came === true;
  console.log(JSON.stringify({ client: `${name} ${version}`, call, ok, came: String(came) }));
};
const streamed = async (model) => {
  let text = "";
  for await (const chunk of await model.stream("hello")) text += chunk.text;
  return text;
};
const parameters = { type: "object", properties: { word: { type: "string" } } };
const look = { type: "function", function: { name: "look", description: "Looks up.", parameters } };

const settings = { model: "m", apiKey: "k", maxRetries: 0, configuration: { baseURL: `${url}/v1` } };
for (const [way, useResponsesApi] of [
  ["chat completions", false],
  ["responses", true],
]) {
  const model = new ChatOpenAI({ ...settings, useResponsesApi });
  tell("@langchain/openai", way, (await model.invoke("hello")).text);
  tell("@langchain/openai", `${way}, streamed`, await streamed(model));
  const { tool_calls } = await model.bindTools([look]).invoke("cat?");
  tell("@langchain/openai", `${way}, tools`, tool_calls?.[0]?.args.word === "cat");
}
const [first] = await new OpenAIEmbeddings({ ...settings, encodingFormat: "float" }).embedDocuments(["a"]);
tell("@langchain/openai", "embeddings", first[0] === 0.5);

const claude = new ChatAnthropic({
  model: "m",
  apiKey: "k",
  maxRetries: 0,
  maxTokens: 100,
  anthropicApiUrl: url,
});
tell("@langchain/anthropic", "messages", (await claude.invoke("hello")).text);
tell("@langchain/anthropic", "messages, streamed", await streamed(claude));
