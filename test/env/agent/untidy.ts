/** Runs an agent in a child process: its leftovers (such as unhandled rejections) must not end the process. Prints how the episode ended. */
import OpenAI from "openai";
import { randomStream } from "../../../src/core/random.ts";
import { agent } from "../../../src/env/agent/agent.ts";
import { scriptActor } from "../../../src/rollout/actor.ts";
import { playEpisode } from "../../../src/rollout/episode.ts";

const environment = agent(
  async ({ openai }) => {
    const client = new OpenAI(openai);
    for (;;) {
      await client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "hi" }] });
      setTimeout(() => Promise.reject(new Error("left lying")), 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
  { tasks: { train: [{ question: "q" }] }, reward: () => 1, expert: () => "yes", limits: { turns: 1000 } },
);
const [task] = environment.tasks("train");
const actor = () => scriptActor("p", () => "yes");
const [played] = await playEpisode({ environment, task: task!, id: "e", random: randomStream(1), actor });
console.log(JSON.stringify(played?.end));
if (process.argv[2] === "foreign") Promise.reject(new Error("somebody else's"));
