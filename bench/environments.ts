// Steps per second of every environment, of one core's CPU time: observing and acting, no policy.
//
//     node bench/environments.ts [name …] > bench/results/environments.md
//
// Actions are those of the flawed player where there is one, else the expert's, recorded beforehand.
import { cpus } from "node:os";
import { randomStream } from "../src/core/random.ts";
import type { Message } from "../src/core/types.ts";
import type { Environment } from "../src/env/environment.ts";
import { environments } from "../src/env/index.ts";

const [tasks, rounds, seconds] = [10, 5, 0.5];

interface Script {
  readonly task: ReturnType<Environment["tasks"]>[number];
  readonly actions: readonly string[];
}

async function recorded(environment: Environment): Promise<Script[]> {
  const player = environment.flawed ?? environment.expert;
  const scripts: Script[] = [];
  for (const task of environment.tasks(environment.splits[0]!).slice(0, tasks)) {
    if (!player) break;
    const random = randomStream(task.seed);
    const episode = await environment.start(task, random.split("environment"));
    const conversation: Message[] = [...task.prompt];
    const actions: string[] = [];
    for (let over = false; !over && actions.length < environment.limits.turns; ) {
      conversation.push(...(await episode.observe()).observation.messages);
      const content = player(task, conversation, random);
      conversation.push({ role: "assistant", content });
      actions.push(content);
      over = (await episode.act({ content, stop: "eos" })).end !== undefined;
    }
    await episode.close?.();
    scripts.push({ task, actions });
  }
  return scripts;
}

async function stepsPerSecond(environment: Environment, scripts: readonly Script[]): Promise<number> {
  const [began, used] = [performance.now(), process.cpuUsage()];
  let steps = 0;
  while (performance.now() - began < 1000 * seconds) {
    for (const { task, actions } of scripts) {
      const episode = await environment.start(task, randomStream(task.seed).split("environment"));
      for (const content of actions) {
        await episode.observe();
        await episode.act({ content, stop: "eos" });
        steps++;
      }
      await episode.close?.();
    }
  }
  const { user, system } = process.cpuUsage(used);
  return (1e6 * steps) / (user + system);
}

const wanted = process.argv.slice(2);
console.log("# Environments\n");
console.log(
  `Steps per second of CPU time, the median of ${rounds} rounds, on ${cpus()[0]?.model ?? "this machine"}.\n`,
);
console.log("| environment | steps/s |\n| --- | --: |");
for (const { name, make } of environments) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const environment = make();
  const scripts = await recorded(environment);
  const rates: number[] = [];
  if (scripts.length > 0)
    for (let round = 0; round < rounds; round++) rates.push(await stepsPerSecond(environment, scripts));
  const rate = rates.sort((a, b) => a - b)[rounds >> 1];
  console.log(`| ${name} | ${rate === undefined ? "–" : Math.round(rate).toLocaleString("en")} |`);
}
