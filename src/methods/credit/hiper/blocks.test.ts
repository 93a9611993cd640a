import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Model } from "../../../core/model.ts";
import { wordCodec } from "../../../engine/tabular/codec.ts";
import { type BlocksOptions, blocks, tagged } from "./blocks.ts";

const words = ["<a>", "</a>", "<b>", "</b>", "x", "y", "z"];
const codec = wordCodec(words);
const model: Pick<Model, "codec"> = { codec };
const ctx = ctxOf({ model: () => model as Model });

async function numbered(actions: readonly string[], options: BlocksOptions): Promise<number[]> {
  const turns = actions.map((text) => turnOf([1], [...codec.encode(text), codec.endId]));
  const trajectories = [trajectoryOf("t", turns), trajectoryOf("silent", [])];
  const { block } = await blocks(options)(ctx, { trajectories, units: [] });
  assert.deepEqual([...block!.keys()], ["t"]);
  return [...block!.get("t")!];
}

test("tokens are numbered by their block, tags included; what is outside and the end are 0", async () => {
  const got = await numbered(["x <a> y </a> z <b> x y </b>", "<b> z </b>"], { names: ["a", "b"] });
  assert.deepEqual(got, [0, 1, 1, 1, 0, 2, 2, 2, 2, 0, 2, 2, 2, 0]);
});

test("a block that is never closed runs to the end; one that is missing has no tokens", async () => {
  assert.deepEqual(await numbered(["x <b> y z"], { names: ["a", "b"] }), [0, 2, 2, 2, 0]);
  assert.deepEqual(await numbered(["x </a>"], { names: ["a"] }), [0, 0, 0]);
  assert.equal(tagged("x </a>", "a"), undefined);
});

test("blocks may be found in another way; where they overlap the first has it", async () => {
  // "x y z": characters 0, 2 and 4
  const find = (_text: string, name: string) => (name === "a" ? ([0, 3] as const) : ([2, 5] as const));
  assert.deepEqual(await numbered(["x y z"], { names: ["a", "b"], find }), [1, 1, 2, 0]);
});
