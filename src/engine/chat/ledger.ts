/** What was spent, in a file: a limit holds for all processes of a run together, those that were killed included. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { writeError } from "../../common/files/files.ts";
import type { Spend } from "../../core/chat.ts";
import { messageOf, WhetstoneError } from "../../core/errors.ts";

const entrySchema = z.object({
  calls: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  usd: z.number(),
});
/** What something adds to the spend; less than 0 where a call needed less than was set aside for it. */
export type Entry = z.output<typeof entrySchema>;

export interface Ledger {
  /** Of all processes before this one. Replies from a cache cost nothing and are not noted. */
  readonly before: Omit<Spend, "cachedCalls">;
  /** On its way to the disk when this returns: it outlives the process, though not a loss of power. */
  note(entry: Entry): void;
}

/** One that forgets. */
export const noLedger: Ledger = {
  before: { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
  note: () => {},
};

/**
 * @param file made with the first entry, in a folder that is there by then; a line each.
 * @throws WhetstoneError `checkpoint.damaged`; `note` throws `disk.write` or `folder.unwritable`.
 */
export function openLedger(file: string): Ledger {
  return {
    before: readEntries(file).reduce(
      (sum, entry) => ({
        calls: sum.calls + entry.calls,
        inputTokens: sum.inputTokens + entry.inputTokens,
        outputTokens: sum.outputTokens + entry.outputTokens,
        usd: sum.usd + entry.usd,
      }),
      noLedger.before,
    ),
    note(entry) {
      try {
        appendFileSync(file, `${JSON.stringify(entry)}\n`);
      } catch (e) {
        throw writeError(file, e);
      }
    },
  };
}

function readEntries(file: string): readonly Entry[] {
  if (!existsSync(file)) return [];
  try {
    const lines = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    return lines.map((line) => entrySchema.parse(JSON.parse(line)));
  } catch (e) {
    throw new WhetstoneError("checkpoint.damaged", {
      where: file,
      got: messageOf(e).split("\n")[0]!,
      expected: "a line for everything that was spent",
      mend: "Take out the line that is damaged: what it stood for is not counted then.",
      cause: e,
    });
  }
}
