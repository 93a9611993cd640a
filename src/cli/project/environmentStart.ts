/** The project of `whetstone init --start environment`: a task of one's own, from its rules to a trained agent. */
import type { Start } from "./start.ts";

const config = `import type { TrainConfig } from "whetstone";
import environment from "./environment.ts";

export default {
  env: environment,
  method: "grpo",
  seed: 1,
  iterations: 30,
  warmStart: { updates: 200 }, // until it can open the door that it was told of
  evaluation: { tasks: 100 },
  out: "runs/doors-1",
} satisfies TrainConfig;
`;

const environment = `// Some doors, one of them the right one. The agent may "look" first, which tells the colour, then it opens a door.
// The flawed player, from which the agent starts, looks only where there are two doors: where there are three it
// guesses. Feedback teaches the agent to look there too.
import type { Environment, Episode, Player, Task } from "whetstone";

const colours = ["red", "blue", "green", "white", "black", "brown", "pink", "grey", "gold", "silver"];

/** Every two doors in both orders and every three in one, with each of them as the right one. */
function allTasks(): Task[] {
  const out: Task[] = [];
  const add = (doors: readonly string[]): void => {
    for (const right of doors) {
      out.push({
        id: \`\${doors.join("-")}/\${right}\`,
        prompt: [{ role: "user", content: \`doors \${doors.join(" ")}\` }],
        reference: right,
        metadata: {},
        seed: out.length,
      });
    }
  };
  for (const [i, a] of colours.entries())
    for (const [j, b] of colours.entries()) {
      if (i !== j) add([a, b]);
      if (i < j) for (const c of colours.slice(j + 1)) add([a, b, c]);
    }
  return out;
}

/** Spread by number, so that each split has all kinds of tasks: 6 parts of 10 to train, 1 to validate, 3 to test. */
const splitOf = (task: Task): string => {
  const part = (task.seed * 7919) % 10;
  return part < 6 ? "train" : part < 7 ? "validation" : "test";
};
const tasks = allTasks();

function start(task: Task): Promise<Episode> {
  let heard: string | undefined;
  return Promise.resolve({
    observe: async () => ({
      role: "agent",
      observation: { messages: heard === undefined ? [] : [{ role: "user", content: heard }] },
    }),
    act: async ({ content }) => {
      if (content === "look") {
        heard = \`the right door is \${task.reference}\`;
        return {};
      }
      const success = content === \`open \${task.reference}\`;
      return { rewards: { outcome: success ? 1 : 0 }, end: { kind: "done", reason: content, success } };
    },
  });
}

const doorsOf = (task: Task): string[] => task.prompt[0]!.content.split(" ").slice(1);

const expert: Player = (task, conversation) =>
  conversation.length > 1 ? \`open \${task.reference}\` : "look";

const flawed: Player = (task, conversation, random) => {
  const doors = doorsOf(task);
  if (conversation.length > 1 || doors.length === 2) return expert(task, conversation, random);
  // a skill that is mostly missing: one time in ten it looks, so that there is something to find
  return random.next() < 0.1 ? "look" : \`open \${doors[random.below(doors.length)]}\`;
};

const environment = {
  name: "doors",
  summary: "look which door is the right one, then open it",
  roles: ["agent"],
  splits: ["train", "validation", "test"],
  abilities: new Set(["expert"]),
  limits: { turns: 3, actionTokens: 6 },
  tasks: (split) => tasks.filter((task) => splitOf(task) === split),
  start,
  vocabulary: () => [...colours, "doors", "look", "open", "the right door is"],
  expert,
  flawed,
} satisfies Environment;

export default environment;
`;

const test = `import assert from "node:assert/strict";
import { test } from "node:test";
import environment from "./environment.ts";

async function play(task: ReturnType<typeof environment.tasks>[number], actions: string[]) {
  const episode = await environment.start(task);
  for (const content of actions) {
    await episode.observe();
    const { end } = await episode.act({ content, stop: "eos" });
    if (end) return end.kind === "done" && end.success === true;
  }
  return false;
}

test("who looks and opens the right door wins; nonsense does not", async () => {
  for (const task of environment.tasks("test").slice(0, 50)) {
    assert.equal(await play(task, ["look", \`open \${task.reference}\`]), true);
    assert.equal(await play(task, ["open sesame"]), false);
    assert.equal(await play(task, ["", "open"]), false);
  }
});

test("no task is in two splits", () => {
  const ids = environment.splits.flatMap((split) => environment.tasks(split).map((task) => task.id));
  assert.equal(new Set(ids).size, ids.length);
});
`;

/** An environment written by hand. */
export const environmentStart: Start = {
  summary: "an environment of your own: tasks, what can be done in them, a reward",
  run: "runs/doors-1",
  scripts: {
    start: "whetstone train config.ts",
    play: "whetstone play environment.ts",
    validate: "whetstone validate environment.ts",
  },
  dependencies: {},
  about: `    npm test            # the environment proves itself
    npm run play        # play it by hand
    npm run validate    # what is wrong with it, and what to expect of it, before training
    npm start           # train: about a minute; success on doors never trained on goes from half to nearly all
    npx whetstone show doors-1    # curves, transcripts, credit

- \`environment.ts\`: what the agent sees, what it can do, what it is rewarded for. Begin here.
- \`config.ts\`: how it is trained. The editor shows what each setting means; \`npx whetstone train --help\` lists all.
- \`environment.test.ts\`: who looks and opens the right door wins, nonsense never does.`,
  checks: ["npm run validate"],
  files: { "config.ts": config, "environment.ts": environment, "environment.test.ts": test },
};
