/** The file of scores: what is scored is kept beside it until all is, so that nothing is asked twice. */
import { existsSync } from "node:fs";
import { appendFile, readFile, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { replaceFile, requireNewFile } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";

const isScores = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every((x) => x === null || typeof x === "number");

const row = z.object({
  id: z.string(),
  /** Null where no score came. */
  score: z.number().nullable(),
  outcome: z.enum(["answered", "failed", "timed out", "off schema", "not asked", "abstained"]),
  why: z.string().optional(),
  /** The score of each aspect, of a judge that has several. */
  aspects: z.custom<Readonly<Record<string, number | null>>>(isScores).optional(), // a record would lose "__proto__"
  /** The score of each judge, where there are several. */
  judges: z.array(z.number().nullable()).optional(),
});

/** A line of the file. */
export type ScoreRow = z.output<typeof row>;

/** Scores that are being collected. */
export interface ScoreFile {
  /** By id, those that need not be asked again: answered, or abstained from. */
  readonly known: ReadonlyMap<string, ScoreRow>;
  /** Where they are until {@link ScoreFile.finish}. */
  readonly progress: string;
  add(row: ScoreRow): Promise<void>;
  /** Writes the file under its own name, rows in the order of the ids, and removes the file of the progress. */
  finish(ids: readonly string[]): Promise<void>;
}

/**
 * Begins a file of scores, or goes on with one.
 * @param work what makes the work the same one: the judges, the items, the seed.
 * @throws WhetstoneError `run.exists` where the file is finished; `run.different` where other work was begun;
 *   `checkpoint.damaged`.
 */
export async function openScoreFile(
  out: string,
  work: Readonly<Record<string, unknown>>,
): Promise<ScoreFile> {
  const file = resolve(out);
  const progress = `${file}.progress`;
  requireNewFile(file);
  const rows = new Map<string, ScoreRow>();
  const head = JSON.stringify(work);
  if (existsSync(progress)) {
    const [begun, ...lines] = (await readFile(progress, "utf8")).split("\n").slice(0, -1); // a line that broke off
    if (begun !== undefined && begun !== head) {
      throw new WhetstoneError("run.different", {
        where: progress,
        got: "scores of other items, judges or settings",
        expected: "those that were begun there",
        fix: "Choose another --out, or remove the file to begin again.",
      });
    }
    lines.forEach((line, i) => {
      try {
        const read = row.parse(JSON.parse(line));
        rows.set(read.id, read);
      } catch (e) {
        throw new WhetstoneError("checkpoint.damaged", {
          where: `${progress}, line ${i + 2}`,
          got: messageOf(e).replaceAll(/\s+/g, " "),
          expected: "a score",
          fix: "Remove the line, and it is asked again.",
          cause: e,
        });
      }
    });
  }
  const isSettled = ({ outcome }: ScoreRow): boolean => outcome === "answered" || outcome === "abstained";
  const known = new Map([...rows].filter(([, one]) => isSettled(one)));
  const text = [head, ...[...known.values()].map((one) => JSON.stringify(one))].map((line) => `${line}\n`);
  await replaceFile(progress, text.join(""));
  return {
    known: new Map(known),
    progress,
    async add(one) {
      known.set(one.id, one);
      await appendFile(progress, `${JSON.stringify(one)}\n`);
    },
    async finish(ids) {
      const lines = ids.flatMap((id) => (known.has(id) ? [`${JSON.stringify(known.get(id))}\n`] : []));
      await replaceFile(file, lines.join(""));
      await rm(progress, { force: true });
    },
  };
}
