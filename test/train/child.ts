/** A run in a child process, which kills itself at a given point: `node child.ts '{"engine":"local",…}'`. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { findCheckpoint } from "../../src/train/checkpoint.ts";
import { intercept } from "./faults.ts";
import { echo, engines, runIn, settings, spied, watched } from "./world.ts";

/** Points of a run at which it can be killed. */
export type Moment =
  | "demonstration"
  | "step"
  | "episode"
  | "validation"
  | "accumulate"
  | "checkpoint"
  | "begin";

export interface ChildOptions {
  readonly engine: keyof typeof engines;
  readonly root: string;
  readonly resume: boolean;
  readonly concurrency: number;
  readonly checkpointSeconds: number;
  readonly staleness?: number;
  readonly kill?: { readonly at: Moment; readonly count: number };
}

const { root, engine: name, kill, ...more } = JSON.parse(process.argv[2] ?? "") as ChildOptions;
const found = await findCheckpoint(join(root, "run"));
let phase: "warm start" | "training" =
  found && found.state.phase !== "warm start" ? "training" : "warm start";
let happened = 0;
const happens = (moment: Moment): void => {
  if (moment !== kill?.at || ++happened < kill.count) return;
  process.kill(process.pid, "SIGKILL");
};

const engine = spied(engines[name](), (call) => {
  if (call === "step" && phase === "warm start") happens("step");
  if (call === "accumulate" && phase === "training") happens("accumulate");
});
const environment = watched(echo(), (task, seed) => {
  const split = task.id.split("/")[1];
  if (split === "validation") return happens(phase === "training" ? "validation" : "demonstration");
  if (split === "test") {
    phase = "training";
    return happens("begin");
  }
  if (phase === "training") {
    happens("episode");
    appendFileSync(join(root, "played.log"), `${task.id} ${seed}\n`);
  }
});
intercept((_, path) => {
  if (path.includes("checkpoints")) happens("checkpoint");
});
await runIn(root, { ...settings(name, engine), ...more, environment });
await engine.dispose();
