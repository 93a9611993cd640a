/** Trajectories of a run as we export them, read by verifiers, Minari and datasets; and read in again by us. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { facts } from "../../src/env/index.ts";
import { exportRun, type TrajectoryForm } from "../../src/exchange/run/exportRun.ts";
import { grpo } from "../../src/method/index.ts";
import { openStore } from "../../src/store/index.ts";
import { runIn, tiny } from "../../test/train/world.ts";

/** @param root a folder that is empty. @param python one that has verifiers, Minari and datasets. */
export async function trajectories(
  root: string,
  python: string,
  say: (what: string, passed: boolean) => void,
): Promise<void> {
  const engine = tiny();
  await runIn(root, {
    environment: facts(),
    engine,
    method: grpo.build({ tasks: 4, groupSize: 4 }),
    iterations: 1,
    contextTokens: 256,
    warmStart: { updates: 150, every: 150, batch: 8 },
    evaluation: { tasks: 4, every: 2, validationTasks: 4 },
  });
  await engine.dispose();
  const store = await openStore(join(root, "whetstone.sqlite"));
  try {
    const [run] = await store.runs();
    const script = join(import.meta.dirname, "..", "peers", "trajectories.py");
    for (const to of ["verifiers", "minari", "messages"] satisfies TrajectoryForm[]) {
      const file = join(root, `${to}.jsonl`);
      const rows = await exportRun(store, run!.id, file, { to });
      const { stdout } = await promisify(execFile)(python, [script, to, file]);
      say(
        `${rows} trajectories of a search agent as ${to}: ${stdout.split("\n", 1)[0]}`,
        stdout.includes(`${rows} `),
      );
    }
  } finally {
    await store.close();
  }
}
