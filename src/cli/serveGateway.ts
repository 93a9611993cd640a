/** The production loop's side of `whetstone serve`: gateway and feedback inbox. */
import { totalmem } from "node:os";
import { jsonLine, oneLine } from "../common/text/oneLine.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Version } from "../core/served.ts";
import { type AutoRollback, autoRollback } from "../release/autoRollback.ts";
import { releaseController } from "../release/controller.ts";
import { builtPages } from "../serve/dashboard/built.ts";
import { dashboard } from "../serve/dashboard/index.ts";
import type { Answerer } from "../serve/gateway/answerer.ts";
import { openVersion, versionOf } from "../serve/gateway/open.ts";
import { policy } from "../serve/gateway/policy.ts";
import { serveProduction } from "../serve/gateway/server.ts";
import { liveVersions } from "../serve/gateway/versions.ts";
import { isLoopback } from "../serve/requestOrigin.ts";
import { signingSecret } from "../serve/signing.ts";
import { keptVersion } from "../store/keptVersion.ts";
import { openTrafficStore } from "../store/openTrafficStore.ts";
import { recorder } from "../store/recorder.ts";
import { openRunStore } from "../store/runStore.ts";
import type { TrafficStore } from "../store/trafficStore.ts";
import { isPostgresUrl } from "../store/where.ts";
import { makeEngine } from "./catalogue.ts";
import { seconds } from "./durations.ts";
import { guidedVersion } from "./guidedVersion.ts";
import { statedNumber } from "./numbers.ts";
import { highestPort } from "./options.ts";
import type { Io } from "./output.ts";
import { statedServer } from "./tinker.ts";
import { redacting } from "./trafficStore.ts";
import { patienceOf } from "./upstreamOptions.ts";
import { versionByWeights } from "./versionByWeights.ts";
import { findWeights } from "./weights.ts";

export interface GatewayFlags {
  readonly upstream?: string;
  readonly upstreamKeyEnv?: string;
  readonly model?: string;
  readonly exact?: "raw" | "processed";
  readonly timeout?: string;
  readonly retries?: string;
  readonly passThrough?: true;
  readonly policy?: string;
  readonly guide?: string;
  readonly frame?: string;
  readonly store: string;
  readonly port?: string;
  readonly host: string;
  readonly channels?: string;
  readonly guard?: string;
  readonly origin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly proxies?: string;
  readonly redact?: string;
  readonly log?: "text" | "json";
}

/** Serves until it is told to stop; calls that run may end, and what was taken is written. */
export async function serveGateway(flags: GatewayFlags, io: Io, stopped: () => Promise<void>): Promise<void> {
  const port = statedNumber("--port", flags.port ?? "8600", 0, highestPort);
  const every = flags.guard === undefined ? undefined : seconds("--guard", flags.guard);
  const log: Log = (message, { level = "info", ...of } = {}) =>
    io.error(
      flags.log === "json"
        ? jsonLine({ time: new Date().toISOString(), level, message, ...of })
        : oneLine(message),
    );
  const store = await openRunStore(flags.store, "own thread");
  const production = await openTrafficStore(flags.store, redacting(flags.redact));
  const writing = recorder(production, { log });
  try {
    const folder = await builtPages();
    const main = await mainVersion(flags, production);
    const versions = await liveVersions({
      production,
      open: (version, foundations) =>
        openVersion(
          version,
          {
            environment: process.env,
            ...(flags.upstream === undefined ? {} : { clientKeysFor: flags.upstream }),
            run: (folder, name) => runPolicy(folder, name, flags.store),
            artefact: production.artefacts.get,
          },
          foundations,
        ),
      ...(main ? { main: main.id } : {}),
      log,
    });
    try {
      const secret = isPostgresUrl(flags.store) ? undefined : `${flags.store}.signing`;
      const server = await serveProduction({
        production,
        recorder: writing,
        versions,
        signing: await signingSecret(process.env, secret),
        port,
        host: flags.host,
        ...(flags.passThrough ? { passThrough: true } : {}),
        ...(flags.channels === undefined ? {} : { channels: names(flags.channels) }),
        gate: {
          origins: flags.origin ?? [],
          hosts: flags.allowHost ?? [],
          proxies: statedNumber("--proxies", flags.proxies ?? "0"),
        },
        pages: (gate) => dashboard({ store, production, folder, gate }),
        log,
      });
      const guard = every === undefined ? undefined : guarding(production, every, log);
      const { split, versions: live } = versions.state;
      io.record({ type: "serving", url: server.url, store: production.where, versions: live, split });
      io.say(
        `${live.join(", ")} is served at ${server.url}/v1, and recorded in ${production.where}.`,
        `Agents need only one setting: OPENAI_BASE_URL=${server.url}/v1`,
        ...(await withoutClientKeys(flags, live, production)),
        ...(flags.passThrough && !versions.answerers().some(({ pass }) => pass) ? [nowhereToPass] : []),
        `The dashboard is at ${server.url}${isLoopback(flags.host) ? "" : ", and asks for a key of scope read"}.`,
        "Ctrl-C stops the server once running calls have ended; a second Ctrl-C stops it at once.",
      );
      await stopped();
      io.say("Closing…");
      await guard?.close();
      await server.close();
      const { calls, complete, cut, failed } = server.state();
      const { recorded, lost } = writing.state();
      io.record({ type: "closed", calls, complete, cut, failed, recorded, lost });
      io.say(
        `Closed. ${calls} calls: ${complete} complete, ${cut} cut, ${failed} failed; ${recorded} recorded, ${lost} lost.`,
      );
    } finally {
      await versions.close();
    }
  } finally {
    await writing.close();
    await store.close();
    await production.close();
  }
}

/** Judges the split every so often, and rolls back what is shown to do harm. */
function guarding(production: TrafficStore, every: number, log: Log): AutoRollback {
  return autoRollback({
    controller: releaseController({ production }),
    seconds: every,
    onAction: ({ version, judgement }) =>
      log(`guard: ${version} is rolled back: ${judgement.why}`, { level: "warning", version }),
    onError: (e) =>
      log(`guard: this look failed and will be repeated at the next interval: ${messageOf(e)}`, {
        level: "error",
      }),
  });
}

/** For who is used to having the agent's key passed on. @param live versions that answer. */
async function withoutClientKeys(
  { upstream }: GatewayFlags,
  live: readonly string[],
  production: TrafficStore,
): Promise<readonly string[]> {
  if (upstream !== undefined) return [];
  const keyless = (await production.versions()).filter(
    ({ id, backend }) => live.includes(id) && backend.kind === "upstream" && backend.keyEnv === undefined,
  );
  if (keyless.length === 0) return [];
  const ids = keyless.map(({ id }) => id).join(", ");
  return [
    `Clients' keys are not forwarded to ${ids}: name the upstream that they belong to with --upstream.`,
  ];
}

/** For who expects `--pass-through` to work while only trained policies answer. */
const nowhereToPass =
  "--pass-through has nowhere to pass calls to: none of the versions that answer is an upstream. Add one with --upstream.";

const names = (list: string): string[] =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** The version that answers while there is no split, in the store with all that it stands on. */
async function mainVersion(flags: GatewayFlags, production: TrafficStore): Promise<Version | undefined> {
  const { guide, frame, store } = flags;
  if (guide === undefined && frame !== undefined) {
    throw new WhetstoneError("option.range", {
      where: "--frame",
      got: `"${frame}" without a guide`,
      expected: "--guide beside it",
      fix: "Add --guide, or leave --frame out.",
    });
  }
  const added = async (version: Version): Promise<Version> =>
    (await keptVersion(production, version)).version;
  const stated = await statedVersion(flags);
  const base = stated && (await added(stated));
  if (guide === undefined) return base;
  const flagged = { guide, store, ...(frame !== undefined && { frame }) };
  return await added(await guidedVersion(flagged, base, production, await production.versions()));
}

/** The version that the flags state, if they state one. */
export async function statedVersion(
  flags: Pick<
    GatewayFlags,
    "upstream" | "policy" | "model" | "upstreamKeyEnv" | "exact" | "timeout" | "retries" | "store"
  >,
): Promise<Version | undefined> {
  const { upstream: url, policy: run, model, upstreamKeyEnv: keyEnv, exact, store } = flags;
  if (url !== undefined && run !== undefined) {
    throw new WhetstoneError("option.range", {
      where: "serve",
      got: "both --upstream and --policy",
      expected: "one of them",
      fix: "Leave one out. To run versions side by side, use a split: see whetstone versions.",
    });
  }
  if (url !== undefined) {
    const more = {
      ...(model === undefined ? {} : { model }),
      ...(keyEnv === undefined ? {} : { keyEnv }),
      ...(exact === undefined ? {} : { exact }),
      ...patienceOf(flags),
    };
    return versionOf({ kind: "upstream", url, ...more }, Date.now());
  }
  if (run === undefined) return undefined;
  return await versionByWeights("serve", run, store);
}

/** A run's weights in this process. */
async function runPolicy(folder: string, name: string, store: string): Promise<Answerer> {
  const { weights, begun } = await findWeights("serve", folder, store);
  const kind = begun?.engine ?? "local";
  const engine = await makeEngine(kind, statedServer(begun?.engineOptions ?? {}), {
    serves: { prefixCache: Math.min(2 ** 30, totalmem() / 16) },
  });
  const settings = { name, limits: servedAtOnce, dispose: () => engine.dispose() };
  const model = await engine.open("policy", weights);
  if (kind !== "local") return policy(model, settings);
  const { servedContext } = await import("../engine/local/index.ts");
  const longest = await servedContext({ from: weights }, servedAtOnce.atOnce);
  return policy({ ...model, contextTokens: Math.min(model.contextTokens, longest) }, settings);
}

/** Replies of a run's weights that are written at once, and requests that wait for that. */
const servedAtOnce = { atOnce: 16, waiting: 64 } as const;
