/** The watch over what pays a run, as the command line states it. */
import { resolve } from "node:path";
import { WhetstoneError } from "../core/errors.ts";
import { ofAttempts } from "../train/fittedJudge.ts";
import type { WatchOptions } from "../train/watchOptions.ts";
import { evaluatorOf } from "./judges.ts";
import type { StatedRun } from "./options.ts";

/** What `--watch` names instead of a file. */
export const byEnvironment = "environment";

/**
 * @param recorded the audit that a run was begun with: "environment", or its file as seen from the run's folder `out`.
 * @returns undefined for a run that is not watched. @throws WhetstoneError `option.range`, `config.invalid`.
 */
export async function statedWatch(
  { watch, audits, onAlarm }: Pick<StatedRun, "watch" | "audits" | "onAlarm">,
  recorded?: { readonly out: string; readonly watch: string | undefined },
): Promise<WatchOptions | undefined> {
  const more = { ...(audits !== undefined && { audits }), ...(onAlarm !== undefined && { onAlarm }) };
  if (typeof watch === "object") return { ...watch, ...more };
  const before =
    recorded?.watch === undefined || recorded.watch === byEnvironment
      ? recorded?.watch
      : resolve(recorded.out, recorded.watch);
  const named = watch ?? before;
  if (named === undefined) {
    if (Object.keys(more).length === 0) return undefined;
    throw new WhetstoneError("option.range", {
      where: audits === undefined ? "--on-alarm" : "--audits",
      got: "no --watch",
      expected: "a run that is watched",
      fix: `Add --watch ${byEnvironment}, or --watch judge.ts.`,
    });
  }
  const audit = named === byEnvironment ? byEnvironment : ofAttempts(await evaluatorOf(named, "score"));
  return { audit, ...more };
}
