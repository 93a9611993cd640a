import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { screens } from "../../src/env/screens.ts";
import { obeysTheLaws } from "./laws.ts";
import { play } from "./play.ts";

const small = { apps: 2, unseen: 2, perApp: 9 };
obeysTheLaws(() => screens(small), { garbage: 0.05, flawed: [0.1, 0.8] });
obeysTheLaws(() => screens({ ...small, pointing: "name", rateSteps: true }), {
  garbage: 0.1,
  flawed: [0.1, 0.8],
});

test("screens: unseen apps have the same names, or none of them; pairs of screens are in one split", () => {
  const environment = screens(small);
  const iconsIn = (split: string) =>
    new Set(
      environment
        .tasks(split)
        .flatMap(({ prompt }) => prompt[0]!.content.split("icons : ")[1]!.match(/[a-z]+/g) ?? []),
    );
  const [train, graph, icons] = ["train", "unseen graph", "unseen icons"].map(iconsIn);
  const names = "star leaf drop moon sun key bell lamp cup tree".split(" ");
  assert.ok([...graph!].every((name) => names.includes(name)));
  assert.ok(icons!.size > 4 && [...icons!].every((name) => !train!.has(name)));
  const pairs = ["train", "validation", "test"].flatMap((split) =>
    environment.tasks(split).map(({ metadata: { app, from, to } }) => `${app} ${from} ${to}`),
  );
  assert.equal(new Set(pairs).size, pairs.length);
});

test("screens: the expert takes the shortest way, and every one of its steps is rated as such", async () => {
  const environment = screens({ ...small, rateSteps: true });
  for (const task of environment.tasks("test")) {
    const { actions } = await play(environment, task, environment.expert!);
    assert.equal(actions.length, task.metadata.shortest);
    const episode = await environment.start(task, randomStream(1));
    for (const [k, content] of actions.entries()) {
      const { rewards, end } = await episode.act({ content, stop: "eos" });
      assert.deepEqual(rewards, { onPath: 1, ...(k === actions.length - 1 && { outcome: 1 }) });
      assert.equal(end?.kind === "done" && end.success, k === actions.length - 1);
    }
  }
});

test("screens: a click within a box goes on, beside it stays; back returns, marks what was tried, and is no progress", async () => {
  const environment = screens({ ...small, rateSteps: true, leaves: 0 });
  const task = environment.tasks("train").find(({ metadata }) => Number(metadata.shortest) > 2)!;
  const episode = await environment.start(task, randomStream(1));
  const look = async () => (await episode.observe()).observation.messages[0]!.content;
  const [name, left, top, right, bottom] = task.prompt[0]!.content.split("icons : ")[1]!
    .split(" , ")[0]!
    .split(" ");
  const act = (content: string) => episode.act({ content, stop: "eos" });

  assert.equal((await act("back")).text, "no screen before");
  assert.equal((await act("tap")).text, "say click , back or finish");
  assert.equal((await act(`click ${left} 99`)).text, "no icon there");
  await act(`click ${right} ${bottom}`);
  assert.doesNotMatch(await look(), new RegExp(`at : ${task.metadata.from} `));
  assert.deepEqual((await act("back")).rewards!.onPath === 1, !(await nearer()));
  assert.match(
    await look(),
    new RegExp(`at : ${task.metadata.from} .*${name} ${left} ${top} ${right} ${bottom} tried`),
  );

  /** Whether that first icon is on a shortest way: then going back from it is not. */
  async function nearer(): Promise<boolean> {
    const again = await environment.start(task, randomStream(1));
    return (await again.act({ content: `click ${left} ${top}`, stop: "eos" })).rewards!.onPath === 1;
  }
});

test("screens: finishing elsewhere fails, and so does taking longer than twice the way and five", async () => {
  const environment = screens(small);
  const [task] = environment.tasks("train");
  const wrong = await play(environment, task!, () => "finish");
  assert.deepEqual([wrong.end, wrong.outcome], [{ kind: "done", reason: "elsewhere", success: false }, 0]);
  const most = 2 * Number(task!.metadata.shortest) + 5;
  const idle = await play(environment, task!, () => "click 99 99");
  assert.deepEqual([idle.end, idle.actions.length], [{ kind: "truncated", limit: "turns", at: most }, most]);
});
