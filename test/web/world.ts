/** The dashboard over a store with real runs and traffic, and a browser to view it. */
import { createHash, randomBytes } from "node:crypto";
import { copyFileSync, existsSync, globSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Hono } from "hono";
import type { Page } from "playwright-core";
import { writtenBy } from "../../src/common/artefacts/origins.ts";
import { artefactVersion, type Origins } from "../../src/core/artefact.ts";
import type { ReceivedSignal } from "../../src/core/served.ts";
import type { Environment } from "../../src/env/environment.ts";
import { listen } from "../../src/http/listen.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { rloo } from "../../src/methods/baseline/rloo/method.ts";
import { type Gated, gate } from "../../src/serve/auth.ts";
import { dashboard } from "../../src/serve/dashboard/index.ts";
import { inbox } from "../../src/serve/inbox.ts";
import { versionRoutes } from "../../src/serve/versions.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import { recorder } from "../../src/store/recorder.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";
import { train as startTraining } from "../../src/train/run.ts";
import { traffic, version } from "../release/traffic.ts";
import { atEnd } from "../room.ts";
import { served } from "../serve/memory.ts";
import { echo, engines, folder, settings } from "../train/world.ts";

const root = join(import.meta.dirname, "..", "..");
const web = join(root, "web");

/** The dashboard's pages, built once for each state of the sources and cached. */
export async function pages(): Promise<string> {
  const hash = createHash("sha256");
  const sources = globSync("**/*.{ts,tsx,css,html,json}", { cwd: web }).sort();
  for (const file of sources) hash.update(file).update(readFileSync(join(web, file)));
  hash.update(readFileSync(join(root, "package-lock.json")));
  const kept = join(root, "node_modules", ".cache", "pages", hash.digest("hex").slice(0, 16));
  if (existsSync(kept)) return kept;
  const outDir = `${kept}.${process.pid}`;
  const { build } = await import("vite");
  await build({ configFile: join(web, "vite.config.ts"), logLevel: "warn", build: { outDir } });
  try {
    renameSync(outDir, kept);
  } catch (e) {
    // another process was faster
    if (!existsSync(kept)) throw e;
    rmSync(outDir, { recursive: true });
  }
  return kept;
}

export interface Shown {
  readonly url: string;
  readonly production: TrafficStore;
  readonly store: Awaited<ReturnType<typeof openRunStore>>;
  close(): Promise<void>;
}

const storeIn = (folder: string): string => join(folder, "whetstone.sqlite");

/** What `whetstone dashboard` serves, over the store `whetstone.sqlite` of a folder. */
export async function show(folder: string): Promise<Shown> {
  const file = storeIn(folder);
  const [store, production] = [await openRunStore(file), await openTrafficStore(file)];
  const writing = recorder(production);
  const door = gate({ production, open: true, signing: randomBytes(32) });
  const app = new Hono<Gated>()
    .use(door.enter)
    .route("/", inbox({ production, recorder: writing, gate: door }))
    .route("/", versionRoutes({ production, gate: door }))
    .route("/", dashboard({ store, production, folder: await pages(), gate: door }));
  const server = await listen((request) => app.fetch(request));
  return {
    url: server.url,
    production,
    store,
    close: async () => {
      await server.close();
      await writing.close();
      await production.close();
      await store.close();
    },
  };
}

export interface Training {
  readonly engine?: keyof typeof engines;
  readonly method?: "grpo" | "rloo";
  readonly environment?: Environment;
  readonly seed?: number;
  readonly iterations?: number;
}

/** A short run in `folder/name`, with its store beside it; returns its id. */
export async function train(folder: string, name: string, of: Training = {}): Promise<string> {
  const { engine: kind = "tabular", method = "grpo", environment = echo(), ...more } = of;
  const engine = engines[kind]();
  const local = kind === "local";
  const usual = settings(kind, engine);
  const tuned = { tasks: 3, groupSize: 4, minibatches: 1, learningRate: local ? 0.003 : 0.3 };
  try {
    const { out } = await startTraining(
      {
        ...usual,
        // long enough for a transformer to write only words of the environment
        ...(local ? { warmStart: { updates: 60, every: 60, batch: 6, learningRate: 0.01 } } : {}),
        environment,
        method: { grpo, rloo }[method].build(tuned),
        ...more,
        out: join(folder, name),
      },
      () => {},
      new AbortController().signal,
    );
    return out;
  } finally {
    await engine.dispose();
  }
}

const trained = folder(atEnd);
let runs: Promise<readonly string[]> | undefined;

async function makeRuns(): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const method of ["grpo", "rloo"] as const) {
    for (const seed of [1, 2])
      ids.push(await train(trained, `${method}-${seed}`, { method, seed, iterations: 2 }));
  }
  ids.push(await train(trained, "local", { engine: "local", iterations: 2 }));
  return ids;
}

export interface Peopled extends Shown {
  /** Ids of four runs of two methods over two seeds, followed by that of a transformer's run, `local`. */
  readonly runs: readonly string[];
  /** The best episode of `local`, as a path. */
  readonly episode: string;
}

/** The dashboard over runs, which are made once per process, and over separate traffic, which its tests may change. */
export async function showPeopled(folder: string): Promise<Peopled> {
  runs ??= makeRuns();
  const ids = await runs;
  copyFileSync(storeIn(trained), storeIn(folder));
  const shown = await show(folder);
  await converse(shown.production);
  const local = ids.at(-1)!;
  const search = { phase: "train", order: "best", offset: 0, limit: 1 } as const;
  const { found } = await shown.store.searchTrajectories(local, search);
  const { id, phase, iteration } = found[0]!;
  const query = new URLSearchParams({ id, phase, iteration: String(iteration) });
  return { ...shown, runs: ids, episode: `/runs/${encodeURIComponent(local)}/episode?${query}` };
}

export const word = (more: Partial<ReceivedSignal> & Pick<ReceivedSignal, "id">): ReceivedSignal => ({
  kind: "critique",
  channel: "comment",
  about: [{ response: "r2" }],
  source: "user",
  user: "ann",
  at: Date.now(),
  received: Date.now(),
  tags: {},
  ...more,
});

/** Two versions that share the traffic, and one session of two replies with a complaint. */
export async function converse(production: TrafficStore): Promise<void> {
  for (const id of ["base", "tuned"]) await production.addVersion(version(id));
  const since = Date.now() - 3_600_000;
  const split = {
    id: "halves",
    shares: { base: 0.5, tuned: 0.5 },
    unit: "session",
    since,
    why: "halves",
  } as const;
  await production.addSplit(split);
  await traffic(production, split, { sessions: 40, from: since, liked: (v) => (v === "tuned" ? 0.9 : 0.5) });
  const more = { version: "base", session: "s1", user: "ann", trajectory: "s1/0" };
  const first = { ...more, at: Date.now() - 2000, id: "r1" };
  const asked = [
    { role: "user" as const, content: "Where is Asmara?" },
    { role: "assistant" as const, content: "hi" },
    { role: "user" as const, content: "I asked where it is." },
  ];
  const choices = [
    { message: { role: "assistant" as const, content: "Asmara is in Kenya." }, stop: "eos" as const },
  ];
  await production.putPrice({ id: "*", input: 100, output: 200 });
  await production.write([
    {
      kind: "traced",
      call: {
        id: "pass_1",
        session: "s1",
        kind: "passed",
        name: "POST /v1/audio/speech",
        at: Date.now() - 1500,
        ms: 320,
        error: "status 500",
        tags: { "whetstone.bytes": "81 in, 54 out" },
      },
    },
    { kind: "response", response: served({ ...first, prompt: asked.slice(0, 1) }) },
    {
      kind: "response",
      response: served({ ...more, at: Date.now() - 1000, id: "r2", turn: 1, prompt: asked, choices }),
    },
    {
      kind: "signal",
      signal: word({
        id: "sig_wrong",
        kind: "correction",
        channel: "correction",
        text: "Asmara is in Eritrea.",
      }),
    },
  ]);
}

/**
 * An instruction set of three versions: by hand, from the correction of {@link converse}, and from episodes of a run, with
 * their measured success; and a version that answers with the second one.
 * @returns the id of the second one.
 */
export async function tell(production: TrafficStore): Promise<string> {
  const { artefacts } = production;
  const corrected: Origins = {
    by: "feedback",
    from: { sessions: ["s1"], users: ["ann"], responses: ["r2"], signals: ["sig_wrong"] },
    trajectories: [],
  };
  const made: string[] = [];
  const add = async (
    system: string,
    why: string,
    origins: Origins,
    parents: readonly string[],
  ): Promise<void> => {
    const artefact = { kind: "instructions", system, tools: {}, examples: [], origins } as const;
    const version = artefactVersion({
      name: "geography",
      artefact,
      parents,
      why,
      origins,
      created: Date.now(),
    });
    await artefacts.add(version);
    made.push(version.id);
  };
  await add("You know places.\nBe brief.", "read from geography.md", writtenBy("person"), []);
  const [first = ""] = made;
  await add("You know places.\nAsmara is in Eritrea.", "a capital that was wrong", corrected, [first]);
  const episodes = { ...writtenBy("reflection"), trajectories: ["0/echo/0", "0/echo/1"] };
  await add("You know places.\nThink first.", "failures of a run", episodes, [first]);
  for (const [i, artefact] of made.entries()) {
    const success = { mean: 0.4 + 0.2 * i, low: 0.3 + 0.2 * i, high: 0.5 + 0.2 * i, n: 100 };
    await artefacts.measure({ id: `m${i}`, artefact, where: "places/test", success, at: Date.now() });
  }
  const [, second = ""] = made;
  const told = version("told");
  await production.addVersion({ ...told, backend: { kind: "artefact", artefact: second, over: "base" } });
  return second;
}

/** Forbidden behaviour of a page: errors, and requests to other servers. */
export function watched(page: Page, own: string): readonly string[] {
  const bad: string[] = [];
  page.on("console", (said) => {
    if (said.type() === "error" || said.type() === "warning") bad.push(`${said.type()}: ${said.text()}`);
  });
  page.on("pageerror", (e) => bad.push(`thrown: ${e.message}`));
  page.on("dialog", (dialog) => {
    bad.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${own}/`) && !url.startsWith("data:")) bad.push(`asked ${url}`);
  });
  return bad;
}

/** A page has loaded when it shows a heading or an error, and has no pending requests. */
export async function settled(page: Page): Promise<void> {
  await page.locator("main h1, main [role=alert]").first().waitFor();
  await page.locator(".notice[role=status]").waitFor({ state: "detached" });
}
