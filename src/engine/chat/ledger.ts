/** The spend, stored in a file: a limit holds for all processes of a run together, including killed ones. */
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
/** A change of the spend; negative when a call cost less than was reserved for it. */
export type Entry = z.output<typeof entrySchema>;

/** Records what a run spends on a provider, so that its limit also counts what earlier processes spent. */
export interface Ledger {
  /** The spend of all earlier processes. Replies from a cache cost nothing and are not recorded. */
  readonly before: Omit<Spend, "cachedCalls">;
  /** Passes the entry to the operating system before it returns: it survives a killed process, but not a power failure. */
  note(entry: Entry): void;
}

/** A ledger that stores nothing. */
export const noLedger: Ledger = {
  before: { calls: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
  note: () => {},
};

/**
 * @param file one line per entry; created with the first entry, in a folder that must exist by then.
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
      expected: "one valid line per entry",
      fix: "Remove the damaged line; its spend is then not counted.",
      cause: e,
    });
  }
}
