import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { EpisodeDetail, EpisodeGroupsPage, EpisodesPage } from "../../../src/serve/dashboard/types.ts";
import type { Saved } from "../../../src/store/trajectoryRow.ts";
import { eventsOf, run, trajectory, turn, world } from "./world.ts";

const tokenizer = {
  version: "1.0",
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: "WhitespaceSplit" },
  post_processor: null,
  decoder: null,
  model: { type: "WordLevel", unk_token: "a", vocab: { a: 0, b: 1, c: 2, yes: 3, no: 4 } },
};

test("an episode is told turn by turn, with what was new to read and the numbers of its tokens", async (t) => {
  const { store, folder, get } = await world(t);
  const spelt = join(folder, "a");
  mkdirSync(spelt);
  writeFileSync(join(spelt, "tokenizer.json"), JSON.stringify(tokenizer));
  await store.startRun(run("a", { folder: spelt }));
  const first = turn();
  const second = turn({
    prompt: [...first.prompt, first.action, { role: "user", content: "Sure?" }],
    action: { role: "assistant", content: "no" },
    rewards: { outcome: -1 },
    text: "wrong",
  });
  const one: Saved = {
    trajectory: trajectory("e1", { turns: [first, second] }),
    advantage: Float32Array.of(0.123456, -1, 2, Number.NaN),
    phase: "train",
  };
  await store.saveIteration("a", 0, { metrics: {}, trajectories: [one] });
  const episode = await get<EpisodeDetail>("/api/runs/a/episode?id=e1&phase=train&iteration=0");
  assert.deepEqual(
    [episode.outcome, episode.end, episode.reward, episode.turns],
    ["success", "answered", 0, 2],
  );
  const [asked, again] = episode.conversation;
  assert.deepEqual(
    [asked?.read, again?.read].map((read) => read?.map(({ content }) => content)),
    [["Is it so?"], ["Sure?"]],
  );
  assert.deepEqual(asked?.tokens, {
    pieces: ["yes", "no"],
    ids: [3, 4],
    logp: [-0.5, null],
    // four digits
    advantage: [0.1235, -1],
  });
  assert.deepEqual([again?.tokens?.advantage, again?.text], [[2, null], "wrong"]);
});

test("an episode stands among those of its task, under the one that it came from", async (t) => {
  const { store, get, refused } = await world(t);
  await store.startRun(run("a"));
  const lineage = { parent: "e1", turn: 0, why: "retry" } as const;
  const saved = [
    trajectory("e1", { end: { kind: "truncated", limit: "turns", at: 3 } }),
    trajectory("e2", { lineage }),
    trajectory("e3", { task: "task-2" }),
    // as long as the id of the first, and begun alike
    trajectory("e1+"),
  ].map((trajectory): Saved => ({ trajectory, phase: "train" }));
  await store.saveIteration("a", 4, { metrics: {}, trajectories: saved });
  const ofOne = await get<EpisodesPage>("/api/runs/a/episodes?task=task-2");
  assert.deepEqual(
    ofOne.episodes.map(({ id }) => id),
    ["e3"],
  );
  const { family, end, conversation } = await get<EpisodeDetail>(
    "/api/runs/a/episode?id=e1&phase=train&iteration=4",
  );
  assert.equal(end, "cut off at 3 turns");
  assert.deepEqual(
    family.map(({ id, parent }) => [id, parent]),
    [
      ["e1", undefined],
      ["e1+", undefined],
      ["e2", lineage],
    ].map(([id, parent]) => [id, parent && { id: lineage.parent, turn: 0, why: "retry" }]),
  );
  // a run that carries no tokenizer has numbers and no texts
  assert.equal(conversation[0]?.tokens?.pieces, undefined);
  const gone = await refused("/api/runs/a/episode?id=e9&phase=train&iteration=4");
  assert.equal(gone.status, 404);
  assert.match(gone.message, /e9 of iteration 4 is not stored/);
  assert.equal((await refused("/api/runs/a/episode?id=e1&phase=train&iteration=x")).status, 400);
});

test("episodes are found by outcome, reward, text and iteration, a page at a time", async (t) => {
  const { store, get, refused } = await world(t);
  await store.startRun(run("a"));
  for (let k = 0; k < 3; k++) {
    const saved = [true, false].map((success): Saved => {
      const said = turn({
        action: { role: "assistant", content: success ? `Yes, ${k}` : "no" },
        rewards: { outcome: k },
      });
      return {
        trajectory: trajectory(`e${k}-${success}`, {
          turns: [said],
          end: { kind: "done", reason: "answered", success },
        }),
        phase: "train",
      };
    });
    await store.saveIteration("a", k, { metrics: {}, trajectories: saved });
  }
  const found = async (query: string): Promise<readonly [number, readonly string[]]> => {
    const { total, episodes } = await get<EpisodesPage>(`/api/runs/a/episodes?${query}`);
    return [total, episodes.map(({ id }) => id)];
  };
  assert.deepEqual(await found("outcome=success&order=best"), [3, ["e2-true", "e1-true", "e0-true"]]);
  assert.deepEqual(await found("outcome=no success&from=1&until=2"), [1, ["e1-false"]]);
  assert.deepEqual(await found("text=YES, 2"), [1, ["e2-true"]]);
  assert.deepEqual(await found("least=2"), [2, ["e2-false", "e2-true"]]);
  assert.deepEqual(await found("offset=4&limit=1"), [6, ["e0-false"]]);
  assert.equal((await refused("/api/runs/a/episodes?outcome=great")).status, 400);
  assert.equal((await refused("/api/runs/a/episodes?limit=100000")).status, 400);
});

test("what is long goes out compressed to those who take it so, and whole", async (t) => {
  const { store, request } = await world(t);
  await store.startRun(run("a"));
  const line = "<script>alert(1)</script>\u202e\u0000".repeat(10_000);
  const saved: Saved = {
    trajectory: trajectory("e1", { turns: [turn({ prompt: [{ role: "tool", content: line }] })] }),
    phase: "train",
  };
  await store.saveIteration("a", 0, { metrics: {}, trajectories: [saved] });
  const path = "/api/runs/a/episode?id=e1&phase=train&iteration=0";
  const answer = await request(path, { headers: { "accept-encoding": "gzip" } });
  assert.equal(answer.headers.get("content-encoding"), "gzip");
  const sent = Buffer.from(await answer.arrayBuffer());
  assert.ok(sent.length < line.length / 20, `${sent.length} bytes`);
  const episode: EpisodeDetail = JSON.parse(gunzipSync(sent).toString());
  assert.equal(episode.conversation[0]?.read[0]?.content, line);
  const events = await request("/api/runs/live", { headers: { "accept-encoding": "gzip" } });
  assert.equal(events.headers.get("content-encoding"), null);
  for await (const _ of eventsOf(events)) break;
});

test("the episodes of a task stand side by side, with what they were asked and where they part", async (t) => {
  const { store, get } = await world(t);
  await store.startRun(run("a"));
  const first = turn({
    prompt: [
      { role: "system", content: "be brief" },
      { role: "user", content: "Where is   Asmara?" },
    ],
    action: { role: "assistant", content: "let me see" },
    rewards: {},
  });
  const second = (content: string, outcome: number) =>
    turn({
      prompt: [...first.prompt, first.action],
      action: { role: "assistant", content, toolCalls: [{ id: "c", name: "look", arguments: "{}" }] },
      rewards: { outcome },
    });
  const saved = [
    trajectory("e1", {
      turns: [first, second("Kenya", 0)],
      end: { kind: "done", reason: "", success: false },
    }),
    trajectory("e2", { turns: [first, second("Eritrea", 1)] }),
    trajectory("e3", { task: "task-2", turns: [first] }),
    trajectory("e4", { task: "task-2", turns: [first] }),
  ].map((trajectory): Saved => ({ trajectory, phase: "train" }));
  await store.saveIteration("a", 4, { metrics: {}, trajectories: saved });
  await store.saveIteration("a", 5, { metrics: {}, trajectories: [saved[3]!] });
  const page = await get<EpisodeGroupsPage>("/api/runs/a/groups");
  assert.equal(page.total, 3);
  assert.deepEqual(
    page.groups.map(({ task, iteration, parts, episodes }) => [task, iteration, parts, episodes.length]),
    [
      ["task-2", 5, undefined, 1],
      ["task-1", 4, 1, 2],
      ["task-2", 4, undefined, 2],
    ],
  );
  const [, parted, alike] = page.groups;
  assert.equal(parted?.asked, "Where is Asmara?");
  assert.deepEqual(
    parted?.episodes.map(({ did, reward }) => [did, reward]),
    [
      ["Kenya look({})", 0],
      ["Eritrea look({})", 1],
    ],
  );
  // those that all did the same show how they ended
  assert.deepEqual(
    alike?.episodes.map(({ did }) => did),
    ["let me see", "let me see"],
  );
  const best = await get<EpisodeGroupsPage>("/api/runs/a/groups?order=best&limit=1");
  assert.deepEqual([best.groups[0]?.task, best.total], ["task-1", 3]);
  const failed = await get<EpisodeGroupsPage>("/api/runs/a/groups?outcome=no success");
  assert.deepEqual(
    failed.groups.map(({ episodes }) => episodes.map(({ id }) => id)),
    [["e1"]],
  );
  // a megabyte is not listed
  const long = turn({ prompt: [{ role: "user", content: "A".repeat(1 << 20) }] });
  await store.saveIteration("a", 6, {
    metrics: {},
    trajectories: [{ trajectory: trajectory("e5", { turns: [long] }), phase: "train" }],
  });
  const { episodes } = await get<EpisodesPage>("/api/runs/a/episodes?from=6");
  assert.equal(episodes[0]?.asked, `${"A".repeat(240)}…`);
});
