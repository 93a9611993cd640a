/** Which splits success is measured on, and their names in reports. */
import { isLogged } from "../core/trainingExamples.ts";
import type { Environment } from "../env/environment.ts";

/** Splits that are held out: neither trained on nor used to select. */
export const heldOutSplits = ({ splits }: Pick<Environment, "splits">): string[] =>
  splits.filter((s) => s !== "train" && s !== "validation");

/** The held-out splits that have tasks; where none has, "train" if its tasks can be played. */
export function measuredSplits(environment: Pick<Environment, "splits" | "tasks">): string[] {
  const heldOut = heldOutSplits(environment);
  const filled = heldOut.filter((split) => environment.tasks(split).length > 0);
  if (filled.length > 0) return filled;
  return heldOut.length === 0 || environment.tasks("train").some(({ id }) => !isLogged(id))
    ? ["train"]
    : heldOut;
}

/** A split's name, with the share of its tasks that are also trained on. */
export function splitName(split: string, trainedShare: number): string {
  if (trainedShare === 0) return split;
  const share = trainedShare === 1 ? "" : `${(100 * trainedShare).toFixed(1)} % `;
  return `${split} (${share}trained on)`;
}
