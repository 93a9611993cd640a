import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../core/random.ts";
import type { Environment, Player } from "../../../env/environment.ts";
import { scriptActor } from "../../../rollout/actor.ts";
import { playEpisode } from "../../../rollout/episode.ts";
import { constantMemory, stateAndAction } from "./constantMemory.ts";
import { ledger, valuesAsked } from "./ledger.ts";
import { recentHistory } from "./recentHistory.ts";

const inner = ledger({ questions: 4 });
const task = inner.tasks("train")[0]!;

const played = async (environment: Environment, player: Player) =>
  (
    await playEpisode({
      environment,
      task,
      id: "e",
      actor: () => scriptActor("player", player),
      random: randomStream(1),
    })
  )[0]!;

/** Keeps values, and nothing else. */
const keeper: Player = (_task, conversation) => {
  const state = stateAndAction(conversation.find(({ role }) => role === "assistant")?.content ?? "").state;
  const fresh = conversation
    .filter(({ role, content }) => role === "user" && !content.startsWith("questions"))
    .flatMap(({ content }) => content.split(" ").filter((word) => /^v\d$/.test(word)));
  const kept = [state, ...fresh].join(" ").trim();
  return `${kept} | ${conversation.at(-1)?.content === "1 left" ? kept : "next"}`;
};

test("constantMemory: a reply is a state and an action", () => {
  assert.deepEqual(stateAndAction(" v1 v2 | next | x"), { state: "v1 v2", action: "next | x" });
  assert.deepEqual(stateAndAction(" next "), { state: "", action: "next" });
});

test("constantMemory: the task, the last turn and the turns left are all there is to see; what is written down lasts", async () => {
  const { turns, end } = await played(constantMemory(inner, { words: 8 }), keeper);
  assert.equal(end.kind === "done" && end.success, true);
  assert.equal(turns.length, 5);
  assert.deepEqual(
    turns.map(({ prompt }) => prompt.length),
    [2, 4, 4, 4, 4],
  );
  const [v0, v1] = valuesAsked(task);
  const third = turns[2]!.prompt;
  assert.deepEqual(
    [third[0], third[1], third[3]],
    [
      { role: "user", content: "questions 4" },
      { role: "assistant", content: `${v0} | next` },
      { role: "user", content: "3 left" },
    ],
  );
  assert.ok(third[2]!.content.includes(v1!));
});

test("constantMemory: a tool's answer is seen with the call that it belongs to", async () => {
  const calling: Environment = {
    ...inner,
    start: async () => {
      let called = false;
      return {
        observe: async () => ({
          role: "agent",
          observation: {
            messages: called ? [{ role: "tool" as const, content: "4", toolCallId: "c" }] : [],
          },
        }),
        act: async () => {
          called = true;
          return {};
        },
      };
    },
  };
  const episode = await constantMemory(calling, { words: 8 }).start(task, randomStream(1));
  const toolCalls = [{ id: "c", name: "add", arguments: "{}" }];
  await episode.act({ content: "adding | ", toolCalls, stop: "eos" });
  const { observation } = await episode.observe();
  assert.deepEqual(observation.messages.slice(-3, -1), [
    { role: "assistant", content: "adding |", toolCalls },
    { role: "tool", content: "4", toolCallId: "c" },
  ]);
});

test("constantMemory: of a state that is too long the end is lost", async () => {
  // one word of state: the first value, and the last page's beside it are known at the end: 2 of 4
  const { turns } = await played(constantMemory(inner, { words: 1 }), keeper);
  assert.equal(turns.at(-1)?.rewards.outcome, 0.5);
});

test("constantMemory: what it wrote is what it sees, and the outcome depends on the actions", async () => {
  const environment = constantMemory(inner, { words: 4 });
  const episode = await environment.start(task, randomStream(1));
  await episode.act({ content: "n1 | next", stop: "eos" });
  const seen = async () => (await episode.observe()).observation.messages.map((m) => m.content);
  assert.equal((await seen())[1], "n1 | next");
  await episode.act({ content: "n2 | next", stop: "eos" });
  assert.equal((await seen())[1], "n2 | next");
  const trajectory = await played(environment, keeper);
  assert.deepEqual(await environment.verify!(task, trajectory), { outcome: 1 });
});

test("recentHistory: the latest messages that fit stay, at least the last one, and the prompt", async () => {
  const expert: Player = (t, conversation) =>
    conversation.at(-1)?.content === "1 left" ? valuesAsked(t).join(" ") : "next";
  const lengths = async (words: number): Promise<number[]> =>
    (await played(recentHistory(inner, { words }), expert)).turns.map(({ prompt }) => prompt.length - 2);
  // a page has 7 words and "next" one: 7, 8, 15, 16, 23…
  assert.deepEqual(await lengths(1000), [0, 2, 4, 6, 8]);
  assert.deepEqual(await lengths(15), [0, 2, 3, 3, 3]);
  assert.deepEqual(await lengths(0), [0, 1, 1, 1, 1]);
  assert.throws(() => recentHistory(inner, { words: -1 }), { code: "option.range" });
});
