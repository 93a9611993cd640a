import assert from "node:assert/strict";
import { test } from "node:test";
import { tabularEngine } from "../../src/engine/tabular/engine.ts";
import { withCorrections } from "../../src/rollout/withCorrections.ts";
import { ctxOf, trajectoryOf, turnOf } from "../core/make.ts";

test("withCorrections: the turn at which somebody spoke is labelled, in its own context, and no other", async () => {
  const policy = await tabularEngine().create({
    id: "policy",
    seed: 1,
    vocabulary: ["a b c"],
    contextTokens: 20,
  });
  const [a, b, c] = ["a", "b", "c"].map((word) => policy.codec.encode(word)[0]!);
  const trajectories = [
    trajectoryOf("told", [
      turnOf([a!], [b!], { text: "c" }),
      turnOf([a!, b!], [b!]),
      turnOf([a!, b!, c!], [b!], { text: "a c", stop: "length" }),
    ]),
    trajectoryOf("silent", [turnOf([a!], [b!], { text: " " })]),
  ];
  const units = trajectories.map(({ id }) => ({ id, group: "task", members: [id] }));
  const { rows, stats } = await withCorrections(async () => ({ trajectories, units }))(
    ctxOf({ model: () => policy }),
  );
  assert.deepEqual(
    rows!.map(({ tokens, targets }) => [[...tokens], [...targets]]),
    [
      [
        [a, c, policy.codec.endId],
        [1, 2],
      ], // it ended by itself, so the label does
      [
        [a, b, c, a, c],
        [3, 4],
      ],
    ],
  );
  assert.ok(rows!.every(({ info }) => info.origin === "demonstrated" && info.unit === "told"));
  assert.ok(
    rows!.every(({ logp, advantage }) => logp.every(Number.isNaN) && advantage.every((x) => x === 1)),
  );
  assert.deepEqual(stats, { corrections: 2 / 4 });
});
