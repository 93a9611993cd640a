/** `whetstone versions`: which versions answer, what is thought of them, and the way up or back. */
import { type Command, Option } from "commander";
import { WhetstoneError } from "../core/errors.ts";
import type { TrafficSplit, Version } from "../core/served.ts";
import type { Id } from "../core/types.ts";
import { autoRollback } from "../release/autoRollback.ts";
import { type ReleaseController, releaseController, usualWindow } from "../release/controller.ts";
import { orderOf } from "../serve/gateway/open.ts";
import { requireConsent } from "./consent.ts";
import { seconds } from "./durations.ts";
import { signalled } from "./interrupted.ts";
import { numberBetween } from "./numbers.ts";
import { addCommand, folded, type Io, percent, roomOf, table } from "./output.ts";
import { addReleaseOptions, type ReleaseFlags, releaseOptions } from "./releaseOptions.ts";
import { trafficStoreOption, withTrafficStore } from "./trafficStore.ts";
import { retriesOption, timeoutOption } from "./upstreamOptions.ts";
import {
  backendOf,
  describedSplit,
  named,
  noSplit,
  sharesOf,
  splitText,
  stateLines,
  statusLine,
  time,
} from "./versionText.ts";

interface StoreFlags {
  readonly store: string;
}
interface AddFlags extends StoreFlags {
  readonly upstream?: string;
  readonly upstreamKeyEnv?: string;
  readonly model?: string;
  readonly exact?: "raw" | "processed";
  readonly timeout?: string;
  readonly retries?: string;
  readonly firstOf?: string;
  readonly policy?: string;
  readonly instructions?: string;
  readonly artefact?: string;
  readonly over?: string;
  readonly guide?: string;
  readonly frame?: string;
  readonly note?: string;
  readonly parent?: string;
}
interface ActFlags extends StoreFlags {
  readonly why?: string;
  readonly yes?: boolean;
}
interface SplitFlags extends ActFlags, ReleaseFlags {
  readonly unit: TrafficSplit["unit"];
  readonly bandit?: boolean;
  readonly floor: string;
}
interface WatchFlags extends StoreFlags, ReleaseFlags {
  readonly every: string;
  readonly promote?: boolean;
  readonly once?: boolean;
}

export function addVersions(program: Command, io: Io): void {
  const versions = addCommand(
    program,
    "versions",
    "Manage the versions that answer calls: traffic split, comparison, promotion, rollback.",
    [
      "whetstone versions add --upstream http://127.0.0.1:8000/v1 --model qwen3-tuned --note 'trained on last week'",
      "whetstone versions split base=0.95 tuned=0.05",
      "whetstone versions judge",
      "whetstone versions promote tuned",
    ],
  );
  addList(versions, io);
  addAdd(versions, io);
  addSplit(versions, io);
  addJudge(versions, io);
  addWatch(versions, io);
  addActs(versions, io);
}

function addList(versions: Command, io: Io): void {
  addCommand(versions, "list", "List the versions and their shares of traffic.", [
    "whetstone versions list",
    "whetstone versions list --json",
  ])
    .addOption(trafficStoreOption())
    .action(({ store }: StoreFlags) =>
      withTrafficStore(
        store,
        async (production) => {
          const split = (await production.splits()).at(-1);
          const found = await production.versions();
          for (const version of found) {
            io.record({ type: "version", ...version, share: split ? (split.shares[version.id] ?? 0) : null });
          }
          if (found.length === 0) {
            return io.say("No versions yet. Add one with: whetstone versions add --upstream URL");
          }
          const rows = found.map((v) => [
            v.id,
            split ? percent(split.shares[v.id] ?? 0) : "",
            backendOf(v),
            time(v.created),
            v.note ?? "",
          ]);
          io.say(...table(["version", "share", "is", "made (UTC)", "note"], rows, roomOf(io)));
          const since = split && `Since ${time(split.since)}, by ${split.unit}: ${split.why}`;
          io.say("", ...folded(io, since ?? noSplit(found.length)));
        },
        "there",
      ),
    );
}

function addAdd(versions: Command, io: Io): void {
  addCommand(versions, "add", "Add a version. It answers no calls until a split names it.", [
    "whetstone versions add --upstream https://api.openai.com/v1 --model gpt-5-mini --upstream-key-env OPENAI_API_KEY",
    "whetstone versions add --policy runs/support --note 'trained on corrections'",
    "whetstone versions add --instructions prompts/support.md --over base --note 'asks for the date first'",
    "whetstone versions add --artefact support --over base",
    "whetstone versions add --guide runs/guide --over base",
    "whetstone versions add --first-of openai,azure,local",
  ])
    .option("--upstream <url>", "base URL, with /v1, of an OpenAI-compatible server")
    .option("--upstream-key-env <name>", "environment variable that holds the upstream's key")
    .option("--model <name>", "model to request from the upstream (default: the one that the client names)")
    .addOption(
      new Option("--exact <kind>", "the upstream returns token ids and log-probabilities").choices([
        "raw",
        "processed",
      ]),
    )
    .option(...timeoutOption)
    .option(...retriesOption)
    .option(
      "--first-of <versions>",
      "the first of these versions that can be reached and does not refuse, separated by commas",
    )
    .option("--policy <run-or-checkpoint>", "a run's weights")
    .option(
      "--instructions <path>",
      "apply these instructions to the version of --over: a text file, or the folder of an artefact",
    )
    .option("--artefact <name>", "apply this artefact of the store, by name or id, to the version of --over")
    .option(
      "--over <version>",
      "with --instructions, --artefact or --guide: who answers (default: who answers most)",
    )
    .option(
      "--guide <version-or-run>",
      "add hints to the prompts of the version of --over, written by this version or by a run's weights; with a guide as artefact: the version that writes the hints",
    )
    .option("--frame <text>", "with --guide alone: how the hint stands in the prompt (default: Hint: {hint})")
    .option("--note <text>", "note on the version")
    .option("--parent <version>", "version that it was made from")
    .addOption(trafficStoreOption())
    .action((flags: AddFlags) =>
      withTrafficStore(flags.store, async (production) => {
        // loaded when it is asked for: engines and servers take their time
        const { statedVersion } = await import("./serveGateway.ts");
        const known = await production.versions();
        const { artefactVersionByFlags } = await import("./artefactVersion.ts");
        const stated =
          orderByFlags(flags, known) ??
          (await artefactVersionByFlags(flags, production, known)) ??
          (await statedVersion(flags));
        if (!stated) throw noBackend();
        const { note } = flags;
        const parent = flags.parent === undefined ? undefined : named(known, flags.parent, "--parent").id;
        const version: Version = {
          ...stated,
          ...(note === undefined ? {} : { note }),
          ...(parent === undefined ? {} : { parent }),
        };
        const there = known.some(({ id }) => id === version.id);
        if (!there) await production.addVersion(version);
        io.record({ type: "version", ...version, share: 0, known: there });
        io.say(
          there ? `${version.id} is already in the store.` : `Added: ${version.id}.`,
          `It answers once a split names it, e.g.: whetstone versions split ${known[0] && !there ? `${known[0].id}=0.95 ${version.id}=0.05` : `${version.id}=1`}`,
        );
      }),
    );
}

function orderByFlags({ firstOf }: AddFlags, known: readonly Version[]): Version | undefined {
  if (firstOf === undefined) return undefined;
  const members = firstOf.split(",").map((text) => named(known, text.trim(), "--first-of"));
  return orderOf(members, Date.now());
}

function addSplit(versions: Command, io: Io): void {
  const command = addCommand(versions, "split", "Set the share of traffic of each version.", [
    "whetstone versions split base=1",
    "whetstone versions split base=0.95 tuned=0.05 --why 'candidate begins at 5 %'",
    "whetstone versions split base=0.5 tuned=0.5 --unit user --yes",
    "whetstone versions split --bandit --floor 0.1",
  ])
    .argument(
      "[shares...]",
      "version=share, adding up to 1; a version by its id, its name, or the beginning of either",
    )
    .addOption(
      new Option("--unit <unit>", "randomisation unit; all calls of a unit go to one version")
        .choices(["session", "user", "response"])
        .default("session"),
    )
    .option("--bandit", "set the shares from the rewards so far (Thompson sampling)")
    .option("--floor <share>", "with --bandit: minimum share of each version", "0.05")
    .option("--why <text>", "reason, stored with the split");
  addReleaseOptions(command)
    .addOption(trafficStoreOption())
    .option("--yes", "do not ask")
    .action((shares: readonly string[], flags: SplitFlags) =>
      withTrafficStore(
        flags.store,
        async (production) => {
          const controller = releaseController(releaseOptions(flags, production));
          if (flags.bandit) {
            if (shares.length > 0) throw bothShares(shares.join(" "));
            await agreed(flags, "versions split", "Set new shares by the bandit?");
            return said(
              io,
              await controller.rebalance({ floor: numberBetween("--floor", flags.floor, 0, 1) }),
            );
          }
          const wanted = sharesOf(await production.versions(), shares);
          await agreed(
            flags,
            "versions split",
            `Set the traffic split to ${splitText(wanted)}, by ${flags.unit}?`,
          );
          said(io, await controller.split(wanted, flags.why ?? "set by hand", flags.unit));
        },
        "there",
      ),
    );
}

function addJudge(versions: Command, io: Io): void {
  const command = addCommand(
    versions,
    "judge",
    "Compare the live versions, and decide to promote, hold or roll back. Repeated looks are valid.",
    [
      "whetstone versions judge",
      "whetstone versions judge --channel thumbs --window 24h",
      "whetstone versions judge --limit errors=+0.02 latency=x1.3 --effect 0.01 --json",
    ],
  );
  addReleaseOptions(command)
    .addOption(trafficStoreOption())
    .action((flags: StoreFlags & ReleaseFlags) =>
      withTrafficStore(
        flags.store,
        async (production) => {
          const options = releaseOptions(flags, production);
          const state = await releaseController(options).state();
          io.record({ type: "judgement", ...state });
          const { length } = await production.versions();
          io.say(...stateLines(state, length, options.window ?? usualWindow, io));
        },
        "there",
      ),
    );
}

function addWatch(versions: Command, io: Io): void {
  const command = addCommand(
    versions,
    "watch",
    "Compare the live versions at an interval, and roll back automatically a version that is shown to be harmful.",
    [
      "whetstone versions watch --every 30s",
      "whetstone versions watch --promote --window 30m --limit errors=+0.02",
    ],
  )
    .option("--every <duration>", "interval between looks", "30s")
    .option("--promote", "also promote automatically")
    .option("--once", "look once, act if needed, and exit");
  addReleaseOptions(command)
    .addOption(trafficStoreOption())
    .action((flags: WatchFlags) =>
      withTrafficStore(
        flags.store,
        async (production) => {
          const guard = autoRollback({
            controller: releaseController(releaseOptions(flags, production)),
            seconds: seconds("--every", flags.every),
            promote: flags.promote === true,
            onLook: (state) => io.say(`${time(Date.now())}  ${statusLine(state)}`),
            onAction: ({ did, version, judgement, split }) => {
              io.record({ type: did === "promote" ? "promoted" : "rolled back", version, judgement, split });
              io.say(
                `${did === "promote" ? "Promoted" : "Rolled back"}: ${version}, ${judgement.why}.`,
                describedSplit(split),
              );
            },
            onError: (e) =>
              io.error(`This look failed and will be repeated at the next interval: ${String(e)}`),
          });
          try {
            await guard.look();
            if (flags.once) return;
            await stopped();
          } finally {
            await guard.close();
          }
        },
        "there",
      ),
    );
}

function addActs(versions: Command, io: Io): void {
  const act = (
    name: string,
    summary: string,
    example: string,
    question: (version: Id) => string,
    work: (controller: ReleaseController, version: Id, why: string) => Promise<TrafficSplit>,
  ): void => {
    addCommand(versions, name, summary, [example, `${example} --why 'better on thumbs since Monday' --yes`])
      .argument("<version>", "a version by its id, its name, or the beginning of either")
      .option("--why <text>", "reason, stored with the split")
      .addOption(trafficStoreOption())
      .option("--yes", "do not ask")
      .action((text: string, flags: ActFlags) =>
        withTrafficStore(
          flags.store,
          async (production) => {
            const { id } = named(await production.versions(), text, `versions ${name}`);
            await agreed(flags, `versions ${name}`, question(id));
            const controller = releaseController({ production });
            said(io, await work(controller, id, flags.why ?? `${name} by hand`));
          },
          "there",
        ),
      );
  };
  act(
    "promote",
    "Send all traffic to one version.",
    "whetstone versions promote tuned",
    (version) => `Send all traffic to ${version}?`,
    (controller, version, why) => controller.promote(version, why),
  );
  act(
    "rollback",
    "Remove a version from the split; the others get its share.",
    "whetstone versions rollback tuned",
    (version) => `Remove ${version} from the split, and give its share to the others?`,
    (controller, version, why) => controller.rollBack(version, why),
  );
}

async function agreed(flags: ActFlags, where: string, question: string): Promise<void> {
  if (flags.yes === true) return;
  await requireConsent(where, question, "a confirmation, since users get other answers afterwards");
}

/** The guard alone keeps no process up. */
async function stopped(): Promise<void> {
  const up = setInterval(() => {}, 60_000);
  await signalled();
  clearInterval(up);
}

function said(io: Io, split: TrafficSplit): void {
  io.record({ type: "split", ...split });
  io.say(describedSplit(split), "It takes effect within two seconds on every gateway.");
}

const noBackend = (): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "versions add",
    got: "nothing that could answer",
    expected: "--upstream, --policy, --instructions, --artefact or --guide",
    fix: "Name an OpenAI-compatible server, a run, or what another version is to be told.",
  });
const bothShares = (got: string): WhetstoneError =>
  new WhetstoneError("option.range", {
    where: "versions split",
    got: `both --bandit and ${got}`,
    expected: "one of them",
    fix: "Leave the shares out: the bandit sets them.",
  });
