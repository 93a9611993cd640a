/**
 * The episodes since the last checkpoint, on disk as they finish, so that a killed run does not play them again.
 * A line is one episode; a last line that was cut off by the kill is left out.
 */
import { appendFile, readFile, truncate } from "node:fs/promises";
import { z } from "zod";
import { replaceFile, writeError } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { fromExactJson, toExactJson } from "../core/json.ts";
import type { Trajectory } from "../core/types.ts";
import { type PackedTrajectory, packTrajectory, unpackTrajectory } from "../store/turns.ts";

export interface Journal {
  /** The finished episode of that id, if it was played before the kill. */
  find(episode: string): readonly Trajectory[] | undefined;
  /** Whether a trajectory came from before the kill: this process has not sampled its tokens. */
  found(trajectory: string): boolean;
  add(iteration: number, episode: string, trajectories: readonly Trajectory[]): Promise<void>;
  /**
   * Removes the iterations before this one, since a checkpoint holds their results. Episodes of later iterations stay: a
   * resumed run may be behind its journal, and async rollouts may be ahead of it.
   */
  forget(before: number): Promise<void>;
  /** Waits for running writes, and ignores later ones: an episode may finish after its run has ended. */
  close(): Promise<void>;
}

const named = { iteration: z.int(), episode: z.string() };
const line = z.union([
  z.object({ ...named, packed: z.custom<readonly PackedTrajectory[]>(Array.isArray) }),
  // as journals were first written: each turn with its whole prompt
  z.object({ ...named, trajectories: z.custom<readonly Trajectory[]>(Array.isArray) }),
]);

/** An unreadable journal must not be treated as an empty one: it would be truncated and its episodes lost. */
const emptyIfMissing =
  (file: string) =>
  (e: unknown): string => {
    if (e instanceof Error && "code" in e && e.code === "ENOENT") return "";
    throw new WhetstoneError("checkpoint.damaged", {
      where: file,
      got: messageOf(e),
      expected: "a readable file",
      fix: "Make it readable, or delete it; the episodes in it are then played again.",
      cause: e,
    });
  };

/** @param from the iteration that is about to run; episodes of earlier ones are of no use any more. */
export async function openJournal(file: string, from: number): Promise<Journal> {
  const episodes = new Map<string, readonly Trajectory[]>();
  const text = await readFile(file, "utf8").catch(emptyIfMissing(file));
  let whole = 0;
  const kept = new Set<number>();
  const given = new Set<string>();
  try {
    // text after the last line end is incomplete
    for (const one of text.split("\n").slice(0, -1)) {
      const read = line.parse(fromExactJson(one));
      const { iteration, episode } = read;
      if (iteration >= from)
        episodes.set(episode, "packed" in read ? read.packed.map(unpackTrajectory) : read.trajectories);
      kept.add(iteration);
      whole += Buffer.byteLength(one) + 1;
    }
  } catch {
    // lines from a damaged one on are ignored; their episodes are played again, with the same result
  }
  let open = true;
  let pending = "";
  let next: Promise<void> | undefined;
  let tail: Promise<void> = Promise.resolve();
  const inOrder = (work: () => Promise<void>): Promise<void> => {
    tail = tail.then(work, work).catch((e: unknown) => {
      throw writeError(file, e);
    });
    return tail;
  };
  const cut = (at: number): Promise<void> =>
    inOrder(async () => {
      await appendFile(file, "");
      await truncate(file, at);
    });
  await cut(episodes.size > 0 ? whole : 0);
  return {
    find(episode) {
      const trajectories = episodes.get(episode);
      for (const { id } of trajectories ?? []) given.add(id);
      return trajectories;
    },
    found: (trajectory) => given.has(trajectory),
    add(iteration, episode, trajectories) {
      kept.add(iteration);
      pending += `${toExactJson({ iteration, episode, packed: trajectories.map(packTrajectory) })}\n`;
      // those that finish while the disk is busy are written together
      next ??= inOrder(async () => {
        const lines = pending;
        pending = "";
        next = undefined;
        if (open) await appendFile(file, lines);
      });
      return next;
    },
    async forget(before) {
      const old = [...kept].filter((iteration) => iteration < before);
      if (old.length === 0) return;
      for (const iteration of old) kept.delete(iteration);
      if (kept.size > 0) return inOrder(() => rewrite(file, before));
      episodes.clear();
      await cut(0);
    },
    close() {
      open = false;
      return tail.catch(() => undefined);
    },
  };
}

/** Rewrites the file without the iterations before this one. */
async function rewrite(file: string, before: number): Promise<void> {
  const lines = (await readFile(file, "utf8")).split("\n").slice(0, -1);
  const later = lines.filter((one) => Number(/^\{"iteration":(\d+),/.exec(one)?.[1]) >= before);
  await replaceFile(file, later.map((one) => `${one}\n`).join(""));
}
