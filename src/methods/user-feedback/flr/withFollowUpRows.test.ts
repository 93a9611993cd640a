import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { withFollowUpRows } from "./withFollowUpRows.ts";

test("withFollowUpRows: what users said becomes rows of the model that plays them, without log-probabilities", async () => {
  const user = await tabularEngine().create({
    id: "user",
    seed: 1,
    vocabulary: ["ask a well done"],
    contextTokens: 20,
  });
  const prompt = [{ role: "user", content: "ask" }] as const;
  const action = { role: "assistant", content: "a" } as const;
  const trajectories = [
    trajectoryOf("praised", [
      turnOf([1], [2], { prompt, action, text: "well done" }),
      turnOf([1], [2], { prompt, action }),
    ]),
    trajectoryOf("silent", [turnOf([1], [2], { prompt, action, text: "  " })]),
  ];
  const units = trajectories.map(({ id }) => ({ id, group: "task", members: [id] }));
  const rollout = withFollowUpRows(async () => ({ trajectories, units }));
  const { rows } = await rollout(ctxOf({ model: () => user }));
  assert.equal(rows?.length, 1);
  const [row] = rows!;
  const names = Array.from(row!.tokens, (id) => {
    const word = user.codec.decode(Int32Array.of(id));
    return word === "" ? "·" : word;
  });
  assert.deepEqual(names, ["·", "ask", "·", "·", "a", "·", "·", "well", "done"]);
  assert.deepEqual([...row!.targets], [7, 8]);
  assert.deepEqual([...row!.advantage], [1, 1]);
  assert.ok(row!.logp.every(Number.isNaN));
  const { model, role, origin, unit } = row!.info;
  assert.deepEqual(
    { model, role, origin, unit },
    { model: "user", role: "user", origin: "demonstrated", unit: "praised" },
  );
});
