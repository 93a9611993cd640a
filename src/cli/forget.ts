/** `whetstone forget`: people's data goes, from tables, log and exported files, and a search shows that it is gone. */
import { type Command, Option } from "commander";
import { WhetstoneError } from "../core/errors.ts";
import type { Erase, Erasure, TrafficStore } from "../store/trafficStore.ts";
import { requireConsent } from "./consent.ts";
import { timeOf } from "./durations.ts";
import { addCommand, type Io } from "./output.ts";
import { trafficStoreOption, withTrafficStore } from "./trafficStore.ts";

interface ForgetOptions {
  readonly user?: string;
  readonly session?: string;
  readonly before?: string;
  readonly store: string;
  readonly yes?: boolean;
}

export function addForget(program: Command, io: Io): void {
  addCommand(
    program,
    "forget",
    "Erase the responses and the feedback of a user or a session, or everything before a date.",
    [
      "whetstone forget --user 4711",
      "whetstone forget --session support-2026-11-03-17 --yes --json",
      "whetstone forget --before 2026-01-01",
      "whetstone forget --before 90d --yes",
    ],
  )
    .addOption(
      new Option("--user <id>", "every session of this user, and all feedback from this user").conflicts([
        "session",
        "before",
      ]),
    )
    .addOption(new Option("--session <id>", "this session").conflicts(["user", "before"]))
    .addOption(
      new Option("--before <date>", "everything older: a date, a time, or an age such as 90d").conflicts([
        "user",
        "session",
      ]),
    )
    .addOption(trafficStoreOption())
    .option("--yes", "do not ask")
    .action(async (options: ForgetOptions) => {
      const what = whatOf(options);
      await withTrafficStore(
        options.store,
        async (production) => {
          if (options.yes !== true) {
            await requireConsent(
              "forget",
              `Erase ${named(what)} from ${production.where}, with the rows of exported files and the parts of artefacts that were made from it? This cannot be undone.`,
              "a confirmation, since an erasure cannot be undone",
            );
          }
          const erasure = await told(io, production.erase(what));
          io.record({ type: "erasure", where: production.where, ...erasure, gone: isGone(erasure) });
          io.say(...receipt(erasure, production));
          if (!isGone(erasure)) io.code = 1;
        },
        "there",
      );
    });
}

function whatOf({ user, session, before }: ForgetOptions): Erase {
  if (user !== undefined && user !== "") return { user };
  if (session !== undefined && session !== "") return { session };
  if (before !== undefined) return { before: timeOf("--before", before, Date.now()) };
  throw new WhetstoneError("option.range", {
    where: "forget",
    got: "no user, session or date",
    expected: "--user, --session or --before",
    fix: "Say which data to erase; see whetstone forget --help.",
  });
}

/** Says that something is going on while it takes long. */
async function told<T>(io: Io, work: Promise<T>): Promise<T> {
  const begun = Date.now();
  const timer = setInterval(
    () =>
      io.error(`Erasing, overwriting free space and verifying: ${Math.round((Date.now() - begun) / 1000)} s`),
    2000,
  );
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

const named = (what: Erase): string =>
  "user" in what
    ? `user ${what.user}`
    : "session" in what
      ? `session ${what.session}`
      : `everything before ${new Date(what.before).toISOString()}`;

const isGone = ({ found }: Erasure): boolean => found.rows + found.bytes + found.exports === 0;

function receipt(erasure: Erasure, { where }: TrafficStore): string[] {
  const { responses, others = 0, signals, traced, exports, artefacts, found, unseen } = erasure;
  return [
    `Erased: ${named(erasure.what)}, from ${where}`,
    `  ${responses} responses${others > 0 ? ` (${others} of other users, in the same sessions)` : ""}, ${signals} signals${traced > 0 ? `, ${traced} calls of tools and retrievals` : ""}`,
    ...exports.map(({ file, rowsRemoved }) => `  ${rowsRemoved} rows of ${file}`),
    ...artefacts.map(
      ({ folder, partsRemoved }) =>
        `  ${partsRemoved} parts of ${folder === "" ? "versions of artefacts" : folder}`,
    ),
    isGone(erasure)
      ? "Searched for its ids in tables, files and exports: nothing is left."
      : `Still found: ${found.rows} times in tables, ${found.bytes} in the database's files, ${found.exports} in exported files. Erase it again; if it stays, another process may have been writing.`,
    `Not searched: ${unseen.join("; ")}.`,
    `Receipt: ${erasure.id}`,
  ];
}
