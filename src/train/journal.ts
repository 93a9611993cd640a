/**
 * The episodes of the iteration that is running, on disk as they finish, so that a killed run does not play them again.
 * A line is one episode; a last line that was cut off by the kill is left out.
 */
import { appendFile, readFile, truncate } from "node:fs/promises";
import { z } from "zod";
import { writeError } from "../core/files.ts";
import type { Trajectory } from "../core/words.ts";
import { fromExactJson, toExactJson } from "./json.ts";

export interface Journal {
  /** The finished episode of that id, if this iteration has it. */
  find(episode: string): readonly Trajectory[] | undefined;
  add(episode: string, trajectories: readonly Trajectory[]): Promise<void>;
  /** Begins the next iteration: forgets everything. */
  clear(iteration: number): Promise<void>;
  /** Waits for what is being written and writes nothing any more: an episode may outlive the run that it was played for. */
  close(): Promise<void>;
}

const header = z.object({ iteration: z.int() });
const line = z.object({ episode: z.string(), trajectories: z.custom<readonly Trajectory[]>(Array.isArray) });

/** @param iteration the one that is about to run; a journal of another one is of no use and is emptied. */
export async function openJournal(file: string, iteration: number): Promise<Journal> {
  const episodes = new Map<string, readonly Trajectory[]>();
  const text = await readFile(file, "utf8").catch(() => "");
  const lines = text.split("\n").slice(0, -1); // what follows the last line end was cut off
  let whole = 0;
  try {
    for (const [i, one] of lines.entries()) {
      const json: unknown = fromExactJson(one);
      if (i === 0) {
        if (header.parse(json).iteration !== iteration) break;
      } else {
        const { episode, trajectories } = line.parse(json);
        episodes.set(episode, trajectories);
      }
      whole += Buffer.byteLength(one) + 1;
    }
  } catch {
    // a damaged line ends what can be used; those episodes are played again, to the same result
  }
  let open = true;
  let tail: Promise<void> = Promise.resolve();
  const inOrder = (work: () => Promise<void>): Promise<void> => {
    tail = tail.then(work, work).catch((e: unknown) => {
      throw writeError(file, e);
    });
    return tail;
  };
  const begin = (at: number): Promise<void> =>
    inOrder(async () => {
      await appendFile(file, "");
      await truncate(file, 0);
      await appendFile(file, `${JSON.stringify({ iteration: at })}\n`);
    });
  if (whole === 0) await begin(iteration);
  else await inOrder(() => truncate(file, whole));
  return {
    find: (episode) => episodes.get(episode),
    add: (episode, trajectories) =>
      inOrder(async () =>
        open ? appendFile(file, `${toExactJson({ episode, trajectories })}\n`) : undefined,
      ),
    async clear(next) {
      episodes.clear();
      await begin(next);
    },
    close() {
      open = false;
      return tail.catch(() => undefined);
    },
  };
}
