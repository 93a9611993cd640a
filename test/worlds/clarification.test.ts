import assert from "node:assert/strict";
import { test } from "node:test";
import type { Task } from "../../src/core/types.ts";
import { type ClarificationOptions, clarification } from "../../src/worlds/clarification.ts";
import { intentOf } from "../../src/worlds/intent.ts";
import { obeysTheLaws } from "../env/laws.ts";
import { play } from "../env/play.ts";

obeysTheLaws(() => clarification(), { garbage: 0.2, flawed: [0.3, 0.65] });

const values = ["v0", "v1", "v2"];
const task: Task = {
  id: "clarification/train/0",
  prompt: [{ role: "user", content: "place v1 date open people open budget open" }],
  metadata: {
    slots: { place: values, date: values, people: values, budget: values },
    goal: { place: "v1", date: "v2" },
    missing: ["date"],
  },
  seed: 7,
};

const say = (options: ClarificationOptions, ...said: string[]) =>
  play(
    clarification(options),
    task,
    (_task, heard) => said[heard.filter((m) => m.role === "assistant").length] ?? "hm",
  );

test("clarification: the form is filled in by what was asked, and a call is right once nothing that matters is open", async () => {
  const talk = await say({}, "ask people", "ask date", "ask date", "ask n0", "ask where", "date", "submit");
  assert.deepEqual(talk.texts, ["people any", "date v2", "date v2", "fine", "pardon", "pardon", "thanks"]);
  assert.deepEqual(
    talk.conversation.filter((m) => m.role === "user").map((m) => m.content),
    [
      "place v1 date open people open budget open",
      "place v1 date open people any budget open",
      ...new Array(5).fill("place v1 date v2 people any budget open"),
    ],
  );
  assert.deepEqual([talk.outcome, talk.end], [1, { kind: "done", reason: "right call", success: true }]);

  const hasty = await say({}, "submit");
  assert.deepEqual([hasty.outcome, hasty.texts], [0, ["date missing"]]);
  const long = await say({ turns: 2 }, "ask budget", "ask place");
  assert.deepEqual([long.outcome, long.end], [0, { kind: "truncated", limit: "turns", at: 2 }]);
});

test("clarification: the call can be made by itself, and users may not be sure at once", async () => {
  const talk = await say({ ends: "known" }, "ask place", "ask date");
  assert.deepEqual([talk.outcome, talk.actions.length], [1, 2]);
  const never = await say({ sure: 0 }, "ask date", "submit");
  assert.deepEqual([never.texts, never.outcome], [["not sure", "date missing"], 0]);
});

test("clarification: tasks are drawn with the shares that were asked for", () => {
  const intents = clarification({ users: 4000 }).tasks("train").map(intentOf);
  const share = (of: (intent: (typeof intents)[number]) => boolean): number =>
    intents.filter(of).length / intents.length;
  const near = (got: number, want: number) => assert.ok(Math.abs(got - want) < 0.03, `${got}, not ${want}`);
  near(
    share(({ goal }) => "people" in goal),
    0.5,
  ); // standard errors up to 0.008
  near(
    share(({ goal }) => "budget" in goal),
    0.1,
  );
  near(
    share(({ missing }) => missing.includes("date")),
    0.3,
  ); // 0.6 · 0.5
  // complete at once, or nothing left out by chance: 0.4 + 0.6 · 0.25 · (1 − 0.25) · (1 − 0.05)
  near(
    share(({ missing }) => missing.length === 0),
    0.4 + 0.6 * 0.25 * 0.75 * 0.95,
  );
  assert.ok(share(({ goal }) => goal.place === "v0") > 0.25);
  const sure = clarification({ users: 2000, sure: 0.8, complete: 0, said: 0 });
  assert.equal(
    sure.tasks("train").every((t) => intentOf(t).missing.includes("place")),
    true,
  );
});
