/** The project of `whetstone init --from agent.ts`: an environment that begins with the agent's own tools. */
import { type Json, objectOf } from "../../core/json.ts";
import type { Found, FoundTool } from "./agentReader.ts";
import type { Start } from "./start.ts";

/** Words for arguments of type string, until real requests stand in their place. */
const words = ["alpha", "bravo", "delta", "echo", "kilo", "lima", "oscar", "tango"];

/** Values that an argument may have; undefined for a list or an object, for which there is no obvious value. */
function valuesOf(schema: Json | undefined): readonly Json[] | undefined {
  const { type, enum: named } = objectOf(schema) ?? {};
  if (Array.isArray(named) && named.length > 0) return named;
  const kind = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  switch (kind) {
    case "integer":
    case "number":
      return [1, 2, 3, 4, 5, 6, 7, 8];
    case "boolean":
      return [true, false];
    case "array":
    case "object":
      return undefined;
    default:
      return words;
  }
}

/** A tool with values for each required argument; undefined where one of them has none. */
function sampled(tool: FoundTool): Readonly<Record<string, readonly Json[]>> | undefined {
  const { properties, required } = objectOf(tool.parameters) ?? {};
  const names = Array.isArray(required) ? required.map(String) : [];
  const values = names.map((name) => [name, valuesOf(objectOf(properties)?.[name])] as const);
  return values.some(([, list]) => list === undefined)
    ? undefined
    : Object.fromEntries(values.map(([name, list]) => [name, list!]));
}

const written = (value: unknown): string => JSON.stringify(value, undefined, 2);

const toolsFile = (
  file: string,
  { tools, instructions }: Found,
): string => `// Read from ${file} by whetstone init --from.

/** What the agent is told at the beginning. */
export const instructions: string = ${JSON.stringify(instructions ?? "")};

/** The tools as the agent offers them, in the form of chat completions. */
export const tools = ${written(tools.map((tool) => ({ type: "function", function: tool })))} as const;
`;

const environmentFile = (
  file: string,
  asked: readonly FoundTool[],
  left: readonly string[],
): string => `// The beginning of an environment for ${file}: requests, and the call that each of them needs. No tool is run.
// What the agent has to learn is which tool a request is about, and with which arguments. Put requests of your users in
// the place of those that are made here; then let the whole agent answer them, as docs/bring-your-own-agent.md shows.
import { type AgentCall, agent, type Random, randomStream, shuffled, writeCall } from "whetstone";
import { instructions, tools } from "./tools.ts";

type Value = string | number | boolean;
interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, Value>>;
}
interface Request {
  readonly text: string;
  readonly call: Call;
}

/** For each tool its required arguments, each with values to ask for.${left.length === 0 ? "" : ` Left out, as a required argument is a list or an object: ${left.join(", ")}.`} */
const asked: Readonly<Record<string, Readonly<Record<string, readonly Value[]>>>> = {
${asked.map((tool) => `  ${JSON.stringify(tool.name)}: ${JSON.stringify(sampled(tool)).replaceAll(",", ", ").replaceAll('":', '": ')},`).join("\n")}
};
/** Ways to begin a request. */
const openings = ["please", "can you", "i want to", "now"];
/** Most requests of each tool. */
const most = 300;

/** Calls at random, each once, as a request in words. */
const random = randomStream("requests");
const requests: readonly Request[] = shuffled(
  Object.entries(asked).flatMap(([name, values]) => {
    const made = Array.from({ length: 3 * most }, (): Request => {
      const given = Object.entries(values).map(
        ([key, list]) => [key, list[random.below(list.length)]!] as const,
      );
      const said = given.map(([key, value]) => \`\${spoken(key)} \${value}\`);
      return {
        text: [openings[random.below(openings.length)], spoken(name), ...said].join(" "),
        call: { name, arguments: Object.fromEntries(given) },
      };
    });
    return [...new Map(made.map((one) => [one.text, one])).values()].slice(0, most);
  }),
  randomStream("order"),
);

/** A name as words: getWeather and get_weather are "get weather". */
function spoken(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll(/[_.-]+/g, " ").toLowerCase();
}

/** The first step of the agent: which call it makes. */
async function firstCall({ task, openai, signal }: AgentCall<Request>): Promise<Call | undefined> {
  const system = instructions === "" ? [] : [{ role: "system", content: instructions }];
  const messages = [...system, { role: "user", content: task.text }];
  const response = await fetch(\`\${openai.baseURL}/chat/completions\`, {
    method: "POST",
    headers: { authorization: \`Bearer \${openai.apiKey}\`, "content-type": "application/json" },
    body: JSON.stringify({ model: openai.model, messages, tools }),
    signal,
  });
  const { choices } = (await response.json()) as {
    choices: { message: { tool_calls?: { function: { name: string; arguments: string } }[] } }[];
  };
  const call = choices[0]?.message.tool_calls?.[0]?.function;
  return call && { name: call.name, arguments: JSON.parse(call.arguments) };
}

const same = (a: Call, b: Call | undefined): boolean =>
  a.name === b?.name &&
  Object.keys({ ...a.arguments, ...b.arguments }).every((key) => a.arguments[key] === b.arguments[key]);

const [third, names] = [Math.floor(requests.length / 3), Object.keys(asked)];
/** As the policy reads them: a small model made from scratch knows these words only. */
const signs = tools.map(({ function: { name, parameters } }) => {
  const keys = Object.keys("properties" in parameters ? parameters.properties : {});
  return writeCall(name, Object.fromEntries(keys.map((key) => [key, ""])));
});

export default agent(firstCall, {
  name: "tools",
  summary: "call the tool that a request needs",
  tasks: {
    train: requests.slice(third),
    validation: requests.slice(0, Math.floor(third / 2)),
    test: requests.slice(Math.floor(third / 2), third),
  },
  prompt: ({ text }) => text,
  reward: ({ call }, made) => Number(same(call, made)),
  replay: true,
  limits: { turns: 1, actionTokens: 48 },
  vocabulary: () => [instructions, "<tools> </tools>", ...signs, ...requests.map(({ text }) => text)],
  expert: ({ call }) => writeCall(call.name, call.arguments),
  // from this player the policy starts: it mostly takes the first tool, whatever is asked
  flawed: ({ call }, _, random: Random) => {
    const [first] = names;
    if (call.name === first || random.next() < 0.25) return writeCall(call.name, call.arguments);
    const values = Object.entries(asked[first!]!).map(([key, list]) => [key, list[random.below(list.length)]!] as const);
    return writeCall(first!, Object.fromEntries(values));
  },
});
`;

const config = `import type { TrainConfig } from "whetstone";
import environment from "./environment.ts";

export default {
  env: environment,
  method: "grpo",
  seed: 1,
  iterations: 60,
  // until it can write a call; a pretrained model needs none of this: model: "./some-model.gguf"
  warmStart: { updates: 600 },
  evaluation: { tasks: 100 },
  out: "runs/tools-1",
} satisfies TrainConfig;
`;

const test = `import assert from "node:assert/strict";
import { test } from "node:test";
import environment from "./environment.ts";
import { tools } from "./tools.ts";

test("every request is about a tool that the agent has", () => {
  const names = new Set<string>(tools.map(({ function: { name } }) => name));
  for (const split of environment.splits)
    for (const task of environment.tasks(split)) {
      const { call } = task.metadata as { call: { name: string } };
      assert.ok(names.has(call.name), call.name);
    }
});
`;

/**
 * An environment that begins with the tools of an agent.
 * @param file as it was named.
 */
export function fromAgent(file: string, found: Found): Start {
  const asked = found.tools.filter((tool) => sampled(tool) !== undefined);
  const left = found.tools.filter((tool) => !asked.includes(tool)).map(({ name }) => name);
  return {
    summary: "the tools of an agent",
    run: "runs/tools-1",
    scripts: {
      start: "whetstone train config.ts",
      play: "whetstone play environment.ts",
      validate: "whetstone validate environment.ts",
    },
    dependencies: {},
    about: `    npm test            # the requests fit the tools
    npm run play        # be the model yourself
    npm run validate    # what is wrong with the environment, before training
    npm start           # train
    npx whetstone show tools-1    # curves, transcripts, credit

- \`tools.ts\`: the tools, as they were read from the agent.
- \`environment.ts\`: requests, and the call that each needs. Begin here: put your users' requests in it.
- \`config.ts\`: how it is trained. The editor shows what each setting means; \`npx whetstone train --help\` lists all.`,
    checks: ["npm run validate"],
    files: {
      "tools.ts": toolsFile(file, found),
      "environment.ts": environmentFile(file, asked, left),
      "config.ts": config,
      "environment.test.ts": test,
    },
  };
}
