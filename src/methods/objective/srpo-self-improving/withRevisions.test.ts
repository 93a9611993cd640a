import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import type { Experience } from "../../../core/slots.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { revisionId } from "./revisions.ts";
import { withRevisions } from "./withRevisions.ts";

test("withRevisions: each of two neighbours after either; one left over has none", async () => {
  const model = await tabularEngine().create({
    id: "policy",
    seed: 1,
    vocabulary: ["a b c ask improve"],
    contextTokens: 32,
  });
  const { codec } = model;
  const prompt = codec.open([{ role: "user", content: "ask" }]);
  const said = ["a", "b", "c"].map((word) =>
    trajectoryOf(word, [
      turnOf([...prompt], [...codec.encode(word)], {
        prompt: [{ role: "user", content: "ask" }],
        action: { role: "assistant", content: word },
      }),
    ]),
  );
  const own: Experience = {
    trajectories: said,
    units: said.map(({ id }) => ({ id, group: "g", members: [id] })),
  };
  const { rows, trajectories } = await withRevisions(async () => own)(ctxOf({ model: () => model }));
  assert.equal(trajectories, said);
  assert.deepEqual(
    rows!.map((row) => row.info.trajectory),
    [revisionId("a", "a"), revisionId("a", "b"), revisionId("b", "a"), revisionId("b", "b")],
  );
  const [, second] = rows!;
  assert.deepEqual(
    [...second!.tokens],
    [
      ...codec.open([
        { role: "user", content: "ask" },
        { role: "assistant", content: "b" },
        { role: "user", content: "improve" },
      ]),
      ...codec.encode("a"),
    ],
  );
  assert.deepEqual([...second!.targets], [second!.tokens.length - 1]);
  assert.deepEqual([second!.info.context, second!.info.unit, second!.info.group], ["rewritten", "a", "g"]);
  assert.ok(second!.behaviour.every(Number.isNaN));
});
