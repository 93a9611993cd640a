/** A thread that makes runs of checks, one at a time. */
import { parentPort } from "node:worker_threads";
import { messageOf } from "../core/errors.ts";
import type { Check } from "../train/check.ts";
import type { Unit } from "../train/experiment.ts";
import { loadCheck } from "./checkFiles.ts";

/** @property file of the check. */
export interface Order {
  readonly file: string;
  readonly unit: Unit;
}

const loaded = new Map<string, Promise<Check>>();

parentPort!.on("message", async ({ file, unit }: Order) => {
  try {
    const check = loaded.get(file) ?? loadCheck(file);
    loaded.set(file, check);
    const { baseline, method, others = {} } = await check;
    const arm = { baseline, method, ...others }[unit.arm]!;
    parentPort!.postMessage({ measured: await arm.measure(arm.grid[unit.choice]!, unit.seed) });
  } catch (e) {
    parentPort!.postMessage({ error: `${unit.arm}, seed ${unit.seed}: ${messageOf(e)}` });
  }
});
