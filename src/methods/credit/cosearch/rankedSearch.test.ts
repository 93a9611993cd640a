import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { randomStream } from "../../../core/random.ts";
import { rankedSearch } from "./rankedSearch.ts";

obeysTheLaws(() => rankedSearch(), { garbage: 0.02 });

obeysTheLaws(() => rankedSearch({ decoys: 1 }), { garbage: 0.02 });

test("rankedSearch: a document with the answer's words alone is a hit, and whoever reads only it is not helped", async () => {
  const environment = rankedSearch({ availability: [0], decoys: 1, hops: 1 });
  const task = environment.tasks("train")[0]!;
  const [[{ decoy }]] = task.metadata.found as unknown as [[{ decoy: number }]];
  const episode = await environment.start(task, randomStream(1));
  await episode.act({ content: "p0", stop: "eos" });
  const other = (decoy + 1) % 6;
  const ranked = await episode.act({ content: `c${other + 1} c${decoy + 1}`, stop: "eos" });
  assert.deepEqual(ranked.rewards, { ranking: 1 / 2 });
  const { rewards } = await episode.act({ content: "answer", stop: "eos" });
  assert.deepEqual(rewards, { outcome: 0 });
});
