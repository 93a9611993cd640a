// Demonstrates the closed loop: a gateway with a small policy, users with realistic biases, and two learners.
//
//     npm run demo:loop                  # about a minute of one core
//     npm run demo:loop -- --quick       # seconds: tests that it runs, without meaningful results
//
// One learner is rewarded by immediate thumbs, the other by outcomes that users report weeks later, corrected for wrong
// clicks and for missing answers. Both have the same first policy, users and number of visits. The true value of a reply
// is known here and shown, but no learner sees it. See docs/closed-loop.md.
import { Command, InvalidArgumentError } from "commander";
import { untilInterrupted } from "../src/cli/interrupted.ts";
import { createIo, type Io } from "../src/cli/output.ts";
import { messageOf } from "../src/core/errors.ts";
import { localEngine } from "../src/engine/local/index.ts";
import { learners } from "./closed-loop/learners.ts";
import {
  closedLoop,
  firstVersion,
  policySize,
  quickPlan,
  type Round,
  usualPlan,
} from "./closed-loop/loop.ts";

interface Given {
  readonly seed: number;
  readonly rounds?: number;
  readonly quick?: boolean;
}

async function show({ seed, rounds, quick }: Given, io: Io, stop: AbortSignal): Promise<void> {
  const plan = { ...(quick ? quickPlan : usualPlan), ...(rounds === undefined ? {} : { rounds }) };
  const engine = localEngine({ threads: 1, size: policySize });
  const began = performance.now();
  const underway = (what: string): void => {
    if (io.terminal) io.write(`\r\u001b[K  … ${what}`);
  };
  const report = (round: Round): void => {
    if (io.terminal) io.write("\r\u001b[K");
    io.record({ type: "round", seconds: (performance.now() - began) / 1000, ...round });
    io.say(line(round));
  };
  const setting = { engine, seed, plan, stop, report, underway };
  try {
    io.say(`Seed ${seed}: a first policy imitates a service that is neither good nor bad…`);
    const first = await firstVersion(setting);
    const final: Record<string, readonly Round[]> = {};
    for (const learner of Object.values(learners)) {
      io.say("", `${learner.name}: learns from ${learner.what}`, heading);
      final[learner.name] = await closedLoop(learner, first, setting);
    }
    io.say("", "True utility, before and after:");
    for (const [name, all] of Object.entries(final)) {
      const [before, after] = [all[0]!.utility, all.at(-1)!.utility];
      io.say(`  ${name.padEnd(10)} ${before.toFixed(2)} → ${after.toFixed(2)}`);
      io.record({ type: "done", learner: name, before, after });
    }
  } finally {
    await engine.dispose();
  }
}

const heading = "  round  true utility  liked  answers next";
function line({ round, utility, likes, live, decision, why }: Round): string {
  const bar = "█".repeat(Math.round(utility * 10)).padEnd(10, "·");
  const verdict = decision === undefined ? "" : `  (candidate v${round}: ${decision}, ${why})`;
  return `  ${String(round).padStart(5)}  ${utility.toFixed(2)} ${bar}  ${likes.toFixed(2)}  ${live}${verdict}`;
}

function count(text: string): number {
  const n = Number(text);
  if (!Number.isSafeInteger(n) || n < 1) throw new InvalidArgumentError("Give a whole number of 1 or more.");
  return n;
}

const io = createIo(process.argv);
try {
  await new Command("demo:loop")
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .description("Users talk to a gateway, leave feedback, and the next version is learnt from it: two ways.")
    .option("--seed <n>", "random seed of users, requests and weights", count, 1)
    .option("--rounds <n>", "versions to learn, one after the other", count)
    .option("--quick", "few visits and little training: tests that it runs, without meaningful results")
    .option("--json", "one JSON object a line on stdout, text on stderr")
    .addHelpText(
      "after",
      "\nExamples:\n  npm run demo:loop\n  npm run demo:loop -- --seed 7 --rounds 6\n  npm run -s demo:loop -- --quick --json",
    )
    .action((given: Given) => untilInterrupted(io, (stop) => show(given, io, stop)))
    .parseAsync();
} catch (e) {
  io.error(`demo:loop: ${messageOf(e)}`);
  io.code = 1;
}
process.exitCode = io.code;
