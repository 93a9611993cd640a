import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { play } from "../../../../test/env/play.ts";
import type { Message } from "../../../core/types.ts";
import { pursuit, pursuitFacts, pursuitSkills } from "./pursuit.ts";

obeysTheLaws(() => pursuit(), { garbage: 0.2, flawed: [0.4, 0.65] });

const env = pursuit();

/** What is said after each of these skills, from the first task on in which the beginning's facts are these. */
async function said(facts: string, ...skills: readonly string[]): Promise<readonly string[]> {
  const task = env.tasks("train").find(({ prompt }) => prompt[0]!.content === facts)!;
  assert.ok(task, `a beginning with ${facts}`);
  const { conversation } = await play(env, task, (_task, heard: readonly Message[]) => {
    return skills[heard.filter(({ role }) => role === "assistant").length] ?? "rest";
  });
  return conversation
    .filter(({ role }) => role === "user")
    .map(({ content }) => content)
    .slice(1, skills.length + 1);
}

test("pursuit: a skill whose needs are not met fails, changes nothing of the guard, and says what it lacked", async () => {
  const lost = await said("facts :", "chase", "grab", "shut-door", "go-through", "fetch-net", "jump");
  const reasons = ["chase : failure ; lacks thief-here", "grab : failure ; lacks thief-beside"];
  const others = ["shut-door", "go-through"].map((skill) => `${skill} : failure ; lacks at-door`);
  const rest = ["fetch-net : failure ; lacks net-here", "no such skill"];
  assert.deepEqual(
    lost,
    [...reasons, ...others, ...rest].map((reason) => `${reason} ; facts :`),
  );
});

test("pursuit: the door is shut and opened by whoever stands in it, and lets nobody through in between", async () => {
  const seen = await said(
    "facts : at-door",
    "open-door",
    "shut-door",
    "shut-door",
    "go-through",
    "open-door",
    "go-through",
  );
  assert.deepEqual(seen.slice(0, 5), [
    "open-door : failure ; lacks door-shut ; facts : at-door",
    "shut-door : success ; facts : at-door door-shut",
    "shut-door : failure ; lacks not door-shut ; facts : at-door door-shut",
    "go-through : failure ; lacks not door-shut ; facts : at-door door-shut",
    "open-door : success ; facts : at-door",
  ]);
  // whether the thief is still in the other room is the thief's affair
  assert.match(seen[5]!, /^go-through : success ; facts : .*net-here/);
});

test("pursuit: six steps of a chase take the breath, which three turns of rest bring back by halves", async () => {
  const task = env.tasks("train").find(({ prompt }) => prompt[0]!.content === "facts : thief-here net-here")!;
  const heard: string[] = [];
  await play(env, task, (_task, conversation) => {
    const last = conversation.at(-1)!.content;
    heard.push(last);
    // shut in with the thief first, so that there is somebody to run after
    if (!last.includes("door-shut")) return last.includes("at-door") ? "shut-door" : "go-to-door";
    return last.includes("tired") ? "rest" : "chase";
  });
  const chased = heard.filter((text) => text.startsWith("chase"));
  const tired = chased.findIndex((text) => text.includes("tired"));
  if (chased.length > 0) assert.equal(tired, 5);
  const rested = heard.find((text) => text.startsWith("rest"));
  assert.ok(rested === undefined || !rested.includes("tired"));
});

test("pursuit: what it lists is what it does and says", () => {
  assert.equal(pursuitSkills.length, 8);
  const words = new Set(env.vocabulary!().flatMap((text) => text.split(" ")));
  for (const word of [...pursuitSkills, ...pursuitFacts]) assert.ok(words.has(word));
});
