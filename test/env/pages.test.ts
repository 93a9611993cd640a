import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../src/core/random.ts";
import { pages } from "../../src/env/pages.ts";
import { obeysTheLaws } from "./laws.ts";

obeysTheLaws(() => pages({ pages: 8, links: 3, seed: 3 }), { garbage: 0.05, flawed: [0, 1] });

/** What is said of each action, and where it led. */
async function walk(actions: (page: string, links: readonly string[]) => string, turns: number) {
  const environment = pages({ seed: 2 });
  const [task] = environment.tasks("train");
  const episode = await environment.start(task!, randomStream(1));
  let seen = task!.prompt[0]!.content;
  const texts: (string | undefined)[] = [];
  const pagesSeen: string[] = [];
  for (let k = 0; k < turns; k++) {
    const page = /page : (\w+)/.exec(seen)![1]!;
    pagesSeen.push(page);
    const step = await episode.act({
      content: actions(page, seen.split("links : ")[1]!.split(" ")),
      stop: "eos",
    });
    texts.push(step.text);
    if (step.end) break;
    seen = (await episode.observe()).observation.messages[0]!.content;
  }
  return { task: task!, texts, pagesSeen, seen };
}

test("pages: actions that come to nothing are named, and leave everything as it was", async () => {
  const said = ["fill", "submit", "jump", "link9"];
  const { texts, pagesSeen } = await walk(() => said.shift()!, 4);
  assert.deepEqual(texts, [
    "error : no field here",
    "error : nothing to submit",
    "invalid : no such action",
    "invalid : no such action",
  ]);
  assert.deepEqual(pagesSeen, ["home", "home", "home", "home"]);
});

test("pages: the link that leads away leads to another site, from where every link leads home", async () => {
  const environment = pages({ seed: 2, turns: 50 });
  const [task] = environment.tasks("train");
  const episode = await environment.start(task!, randomStream(1));
  // breadth first would be exact; a walk that takes every link in turn meets all of them
  let seen = task!.prompt[0]!.content;
  let left: string | undefined;
  const taken = new Map<string, number>();
  for (let k = 0; k < 49 && left === undefined; k++) {
    const page = /page : (\w+)/.exec(seen)![1]!;
    const links = seen.split("links : ")[1]!.split(" ");
    const out = links.indexOf("elsewhere");
    const next = out >= 0 ? out : (taken.get(page) ?? 0) % links.length;
    taken.set(page, next + 1);
    const step = await episode.act({ content: `link${next + 1}`, stop: "eos" });
    seen = (await episode.observe()).observation.messages[0]!.content;
    if (step.text !== undefined) left = step.text;
  }
  assert.equal(left, "away : another site");
  assert.match(seen, /^away : another site ; task .* page : elsewhere/);
  assert.deepEqual(new Set(seen.split("links : ")[1]!.split(" ")), new Set(["home"]));
});

test("pages: milestones are states that the expert passes, in their order", async () => {
  const environment = pages({ seed: 4 });
  for (const task of [...environment.tasks("train"), ...environment.tasks("test")]) {
    const episode = await environment.start(task, randomStream(1));
    let seen = task.prompt[0]!.content;
    const keys: string[] = [];
    for (let over = false; !over; ) {
      const { observation } = await episode.observe();
      seen = observation.messages[0]?.content ?? seen;
      keys.push(observation.stateKey!);
      const content = environment.expert!(task, [{ role: "user", content: seen }], randomStream(1));
      over = (await episode.act({ content, stop: "eos" })).end !== undefined;
    }
    const milestones = task.metadata.milestones;
    assert.ok(Array.isArray(milestones));
    assert.deepEqual(
      keys.filter((key) => milestones.includes(key)),
      milestones,
    );
  }
});
