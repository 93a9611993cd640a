/** Exports trajectories of a run in the formats of other tools. */
import { resolve } from "node:path";
import { replaceFile, requireNewFile } from "../../common/files/files.ts";
import type { RunStore, StoredTrajectory, TrajectoryFilter } from "../../store/runStore.ts";
import { jsonLine } from "../jsonLine.ts";
import { hfRow } from "./messages.ts";
import { minariEpisode } from "./minari.ts";
import { verifiersEpisode } from "./verifiers.ts";

/** Converts the trajectories of one episode, one per agent, into rows. */
type MakeRows = (episode: readonly StoredTrajectory[]) => readonly Readonly<Record<string, unknown>>[];

export type TrajectoryForm = "messages" | "verifiers" | "minari";

/** Every format by its name. An episode that ended before any action is only a row of verifiers. */
export const trajectoryForms: Readonly<Record<TrajectoryForm, MakeRows>> = {
  messages: (episode) => episode.filter(hasActed).map(hfRow),
  verifiers: (episode) => [verifiersEpisode(episode)],
  minari: (episode) => episode.filter(hasActed).map(minariEpisode),
};

const hasActed = ({ turns }: StoredTrajectory): boolean => turns > 0;

/** Settings of {@link exportRun}. */
export interface ExportRunOptions {
  readonly to: TrajectoryForm;
  /** Selects trajectories. Default: all that the run kept. */
  readonly filter?: TrajectoryFilter;
  /** Called with the number of trajectories read so far. */
  readonly progress?: (read: number, of: number) => void;
}

/**
 * Writes a run's stored trajectories, one JSON object per line, under a temporary name first. Only one episode is in
 * memory.
 * @param run its id in the store. @returns the number of rows.
 * @throws WhetstoneError `run.exists` if the file exists.
 */
export async function exportRun(
  store: RunStore,
  run: string,
  out: string,
  { to, filter = {}, progress = () => {} }: ExportRunOptions,
): Promise<number> {
  const file = resolve(out);
  requireNewFile(file);
  const all = await store.trajectories(run, filter);
  const episodes = Map.groupBy(all, ({ iteration, phase, episode }) =>
    JSON.stringify([iteration, phase, episode]),
  );
  let [rows, read] = [0, 0];
  async function* lines(): AsyncGenerator<string> {
    for (const members of episodes.values()) {
      const episode: StoredTrajectory[] = [];
      for (const { iteration, phase, id } of members) {
        const stored = await store.trajectory(run, { iteration, phase, id });
        if (stored) episode.push(stored);
      }
      // a run that is being deleted may have lost them since they were listed
      if (episode.length === 0) continue;
      for (const row of trajectoryForms[to](episode)) {
        rows++;
        yield jsonLine(row);
      }
      read += members.length;
      progress(read, all.length);
    }
  }
  await replaceFile(file, lines());
  return rows;
}
