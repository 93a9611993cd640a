/** What checks in preference games share: exact policies, exact distances, and arms that try settings of pieces. */
import type { Model } from "../../src/core/model.ts";
import { pairRows } from "../../src/core/pack.ts";
import { randomStream } from "../../src/core/random.ts";
import { mean } from "../../src/core/statistics.ts";
import type { Task } from "../../src/core/words.ts";
import { type Prior, tabularEngine } from "../../src/engine/tabular/engine.ts";
import type { Environment } from "../../src/env/environment.ts";
import { preferencesOf, repliesOf } from "../../src/env/preferenceGame.ts";

/** Tables that begin at a random reference, the same for one seed: logits normal with this deviation. */
export function engineOf(seed: number, deviation = 1): ReturnType<typeof tabularEngine> {
  const prior: Prior = (context, word) =>
    /^r\d+$/.test(word)
      ? deviation *
        randomStream(seed)
          .split("reference", ...context, word)
          .normal()
      : -1e9;
  return tabularEngine({ context: "message", prior });
}

/** The exact probability of each reply to a task. */
export async function policyOf(model: Pick<Model, "codec" | "score">, task: Task): Promise<Float64Array> {
  const prompt = model.codec.open(task.prompt);
  const words = repliesOf(preferencesOf(task).length);
  const ids = Int32Array.from(words, (word) => model.codec.encode(word)[0]!);
  const rows = pairRows([{ prompt, target: ids.subarray(0, 1) }]);
  const { at } = await model.score(rows, { at: { ids, width: ids.length } });
  return Float64Array.from(at!, Math.exp);
}

/** The mean of a number over the practised tasks. */
export async function overTasks(
  environment: Environment,
  of: (task: Task) => Promise<number>,
): Promise<number> {
  return mean(await Promise.all(environment.tasks("train").map(of)));
}
