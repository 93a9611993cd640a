/** Trajectories of a run, in the forms that other tools take. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { WhetstoneError } from "../../core/errors.ts";
import { replaceFile } from "../../core/files.ts";
import type { Store, StoredTrajectory, TrajectoryFilter } from "../../store/store.ts";
import { hfRow } from "./messages.ts";
import { minariEpisode } from "./minari.ts";
import { verifiersTrace } from "./verifiers.ts";

type MakeRow = (stored: StoredTrajectory) => Readonly<Record<string, unknown>>;

/** Every form by its name. */
export const trajectoryForms = {
  messages: hfRow,
  verifiers: verifiersTrace,
  minari: minariEpisode,
} as const satisfies Readonly<Record<string, MakeRow>>;
export type TrajectoryForm = keyof typeof trajectoryForms;

/** Settings of {@link exportRun}. */
export interface ExportRunOptions {
  readonly to: TrajectoryForm;
  /** Which of them. Default: all that the run kept. */
  readonly filter?: TrajectoryFilter;
  /** Hears how many rows are written. */
  readonly progress?: (rows: number, of: number) => void;
}

/**
 * Writes what a run has kept of its trajectories, a JSON object a line, aside first and then in its place.
 * @param run its id in the store. @returns how many rows.
 * @throws WhetstoneError `run.exists` where the file is there already.
 */
export async function exportRun(
  store: Store,
  run: string,
  out: string,
  { to, filter = {}, progress = () => {} }: ExportRunOptions,
): Promise<number> {
  const file = resolve(out);
  if (existsSync(file)) {
    throw new WhetstoneError("run.exists", {
      where: "--out",
      got: `${file}, which is there already`,
      expected: "a new file",
      mend: "Choose another name, or remove it.",
    });
  }
  const all = await store.trajectories(run, filter);
  let rows = 0;
  async function* lines(): AsyncGenerator<string> {
    for (const { iteration, phase, id } of all) {
      const stored = await store.trajectory(run, { iteration, phase, id });
      if (!stored) continue;
      yield `${JSON.stringify(trajectoryForms[to](stored))}\n`;
      progress(++rows, all.length);
    }
  }
  await replaceFile(file, lines());
  return rows;
}
