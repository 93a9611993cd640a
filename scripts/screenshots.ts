/**
 * Takes the pictures of docs/dashboard.md: every page in both themes, from a running dashboard with real runs.
 *
 *     whetstone dashboard --store runs/whetstone.sqlite &
 *     node scripts/screenshots.ts http://127.0.0.1:8700             # all pages
 *     node scripts/screenshots.ts http://127.0.0.1:8700 run episode # some
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type {
  ArtefactsPage,
  ComparisonsPage,
  EpisodesPage,
  InboxPage,
  LeaguesPage,
  RunRow,
  RunsPage,
} from "../src/serve/dashboard/types.ts";
import { noBrowser, openBrowser } from "../test/browser.ts";

const folder = join(import.meta.dirname, "..", "docs", "dashboard");
const themes = ["light", "dark"] as const;
const size = { width: 1280, height: 620 };
/** Maximum bytes of one picture. */
const most = 170_000;

const [url, ...only] = process.argv.slice(2);
if (url === undefined || noBrowser) {
  console.error(noBrowser || "expected the address of a running dashboard, as whetstone dashboard prints it");
  process.exit(2);
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(url + path);
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

const inRun = (run: RunRow): string => `/runs/${encodeURIComponent(run.id)}`;

/** A success half-way through the run with the most turns, in which turns earned different rewards. */
async function episodeOf(run: RunRow): Promise<string> {
  const [from, until] = [0.3, 0.5].map((share) => String(Math.floor(share * run.iterations)));
  const asked = {
    phase: "train",
    outcome: "success",
    order: "longest",
    limit: "1",
    from: from!,
    until: until!,
  };
  const { episodes } = await ask<EpisodesPage>(`/api${inRun(run)}/episodes?${new URLSearchParams(asked)}`);
  const found = episodes[0];
  if (!found) throw new Error(`${run.name} kept no success of its iterations ${from} to ${until}`);
  const { id, phase, iteration } = found;
  return `${inRun(run)}/episode?${new URLSearchParams({ id, phase, iteration: String(iteration) })}#t1.1`;
}

/** The address of each page, computed on demand. */
async function places(): Promise<Readonly<Record<string, () => Promise<string> | string>>> {
  const { runs } = await ask<RunsPage>("/api/runs");
  const withTokens = runs.find((run) => run.engine === "local") ?? runs[0];
  const sameWorld = Object.groupBy(runs, (run) => run.env);
  const compared =
    Object.values(sameWorld).reduce((a, b) => ((b?.length ?? 0) > (a?.length ?? 0) ? b : a), []) ?? [];
  const one = (): RunRow => {
    if (!withTokens) throw new Error("there is no run to show");
    return withTokens;
  };
  return {
    runs: () => "/",
    run: () => inRun(one()),
    tasks: () => `${inRun(one())}/tasks`,
    episodes: () => `${inRun(one())}/episodes?order=longest`,
    episode: () => episodeOf(one()),
    compare: () =>
      `/compare?${new URLSearchParams(compared.toReversed().map((run): [string, string] => ["run", run.id]))}`,
    comparison: async () => {
      const { comparisons } = await ask<ComparisonsPage>("/api/comparisons");
      return `/comparisons/${encodeURIComponent(comparisons[0]?.id ?? "")}`;
    },
    league: async () => {
      const { leagues } = await ask<LeaguesPage>("/api/leagues");
      return `/compare/leagues/${encodeURIComponent(leagues[0]?.id ?? "")}`;
    },
    methods: () => "/methods",
    method: () => `/methods/${one().method}`,
    inbox: () => "/inbox",
    sessions: () => "/sessions",
    session: async () => {
      const { items } = await ask<InboxPage>("/api/inbox");
      return `/sessions/${encodeURIComponent(items.find((item) => item.wanting)?.reply?.session ?? "")}`;
    },
    artefacts: () => "/artefacts",
    artefact: async () => {
      const { artefacts } = await ask<ArtefactsPage>("/api/artefacts");
      const read = artefacts.findLast(({ from, parents }) => from.signals > 0 && parents.length > 0);
      return `/artefacts/${encodeURIComponent((read ?? artefacts.at(-1))?.id ?? "")}`;
    },
    versions: () => "/versions",
  };
}

async function picture(page: Page, name: string, path: string): Promise<void> {
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    await page.goto("about:blank"); // loading the same address again would only scroll within the page
    await page.goto(url + path);
    await page.locator("main h1").first().waitFor();
    await page.waitForLoadState("load");
    // charts are drawn after their data has loaded
    await page.waitForTimeout(500);
    const bytes = await page.screenshot();
    if (bytes.length > most)
      throw new Error(`${name} in ${theme} takes ${bytes.length} bytes, more than ${most}`);
    writeFileSync(join(folder, `${name}-${theme}.png`), bytes);
    console.log(`${name}-${theme}.png ${(bytes.length / 1000).toFixed(0)} kB`);
  }
}

mkdirSync(folder, { recursive: true });
const all = await places();
const unknown = only.find((name) => !(name in all));
if (unknown) throw new Error(`there is no page ${unknown}; there are ${Object.keys(all).join(", ")}`);
const browser = await openBrowser();
try {
  const page = await browser.newPage({ viewport: size });
  for (const [name, path] of Object.entries(all)) {
    if (only.length === 0 || only.includes(name)) await picture(page, name, await path());
  }
} finally {
  await browser.close();
}
