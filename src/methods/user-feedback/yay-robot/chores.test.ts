import assert from "node:assert/strict";
import { test } from "node:test";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import { play } from "../../../../test/env/play.ts";
import type { Environment } from "../../../env/environment.ts";
import { chores, wasShown } from "./chores.ts";

obeysTheLaws(() => chores(), { garbage: 0.05 });

test("chores: only wrong commands are corrected, with the right one, as often as asked for", async () => {
  const env = chores({ corrected: 0.2 });
  const wrong = async (of: Environment): Promise<readonly string[]> => {
    const all = await Promise.all(of.tasks("train").map((task) => play(of, task, () => "none")));
    return all.flatMap(({ texts }) => texts);
  };
  // 120 tasks of 3 steps: 72 of 360, deviation 7.6
  const said = await wrong(env);
  assert.ok(Math.abs(said.length - 72) < 31, String(said.length));
  assert.ok(said.every((text) => env.rights.includes(text)));
  assert.deepEqual(await wrong(chores({ corrected: 0 })), []);
  const [task] = env.tasks("train");
  assert.deepEqual((await play(env, task!, env.expert!)).texts, []);
  const situations = (shown: boolean): Set<number> =>
    new Set(
      env
        .tasks("train")
        .filter((t) => wasShown(t) === shown)
        .flatMap((t) => t.metadata.situations as number[]),
    );
  const unseen = situations(false);
  assert.ok([...situations(true)].every((s) => !unseen.has(s)));
});
