/** No bench and no arena contradicts a row of docs/methods.md silently; both are read from their data. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { asLines, collected, comparisonsIn, inArena } from "../../scripts/benchResults.ts";
import { type Arena, arenaDigest } from "../../src/arenas/arena.ts";
import { arenas } from "../../src/arenas/index.ts";
import { runName } from "../../src/arenas/runs.ts";
import {
  type BenchResult,
  benchResults,
  benchSentences,
  claimsToBeat,
  standingOf,
} from "../../src/methods/benchResults.ts";
import { catalogue } from "../../src/methods/catalogue.ts";
import { readEvidence } from "../../src/methods/evidence.ts";
import { compareRuns, comparisonPage } from "../../src/train/compare.ts";
import { tuningSeedsFor } from "../../src/train/experiment.ts";
import { temporary } from "../temporary.ts";

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const page = read("docs/methods.md");
const known = (await collected()).filter(({ method }) => catalogue.some(({ id }) => id === method));

/** Effect and interval in points, written out here once more. */
const written = ({ effect: { mean, low, high } }: BenchResult): string => {
  const [m, l, h] = [mean, low, high].map((x) => `${x > 0 ? "+" : ""}${(100 * x).toFixed(1)}`);
  return `${m} [${l}, ${h}]`;
};

/** Results that are no lead of the method, and that a page of rows does not name with effect, interval, world and page. */
function silent(rows: string, results: readonly BenchResult[]): readonly BenchResult[] {
  const lines = rows.split("\n");
  return results.filter((result) => {
    if (result.effect.low > 0) return false;
    const note = lines.find((line) => line.startsWith(`- **${result.method}** (`)) ?? "";
    const row = lines.find((line) => line.startsWith(`| [\`${result.method}\`]`)) ?? "";
    const isArena = result.bench.startsWith("arena ");
    const cell = `${result.bench.replace("arena ", "")}: ${written(result)}`;
    const isNamed =
      note.includes(`[${result.bench}](`) &&
      note.includes(`${written(result)}${isArena ? "" : ` in ${result.world}`}`);
    const isChecked = readEvidence(result.method) !== undefined;
    return isArena ? !row.includes(cell) || (isChecked && !isNamed) : !isNamed;
  });
}

test("what explain shows is what benches and arenas hold now", () => {
  assert.deepEqual(benchResults, JSON.parse(asLines(known)));
  assert.ok(known.length >= 40, `${known.length} results`);
});

test("no bench or arena contradicts a row of docs/methods.md silently", () => {
  assert.deepEqual(silent(page, known), []);
});

test("a row that says nothing of a bench is found, and so is one with another number", () => {
  const first = known.find(({ method, bench, effect }) => {
    return effect.high < 0 && !bench.startsWith("arena ") && readEvidence(method)?.verdict === "reproduced";
  })!;
  const contradicted = known.filter(
    ({ method, bench, effect }) => method === first.method && bench === first.bench && effect.low <= 0,
  );
  const mute = page.replaceAll(/A comparison (does not show|shows only in part) [^\n]*/g, "");
  assert.deepEqual(silent(mute, contradicted), contradicted);
  const other = { ...first, effect: { ...first.effect, mean: -0.5 } };
  assert.deepEqual(silent(page, [other]), [other]);
  const arena = { ...first, bench: "arena that nobody names" };
  assert.deepEqual(silent(page, [arena]), [arena]);
});

test("an arena: every method's difference to the opponent from raw runs, none for what is not whole", async () => {
  const [arena] = arenas as readonly [Arena];
  const digest = await arenaDigest(arena);
  const file = join(mkdtempSync(join(temporary, "whetstone-arena-")), "runs.jsonl");
  const reported = Array.from({ length: arena.seeds }, (_, i) => i + 1);
  const runs = ["grpo", "ppo", "rloo"].flatMap((method) =>
    arena.rates.flatMap((rate) =>
      [...tuningSeedsFor(arena.tuningSeeds), ...reported].map((seed) => {
        const test = method === "ppo" ? 0.3 + (seed % 2) / 100 : 0.5;
        const validation = rate === arena.rates[1] ? 1 : 0; // the best is not at an end
        const result = { validation, test, curve: [], episodes: 1, tokens: 1, seconds: 1, commit: "c" };
        return { name: runName(digest, method, rate, seed), result };
      }),
    ),
  );
  const isWhole = ({ name }: { name: string }): boolean => !(name.includes("/rloo/") && name.endsWith("/1"));
  writeFileSync(
    file,
    runs
      .filter(isWhole)
      .map((run) => `${JSON.stringify(run)}\n`)
      .join(""),
  );
  const [found, ...more] = await inArena(arena, { runs: file, excluded: `${file}.excluded` });
  assert.deepEqual(more, []);
  assert.deepEqual([found!.method, found!.level, standingOf(found!)], ["ppo", "neural", "behind"]);
  // half of the seeds are odd
  assert.ok(Math.abs(found!.effect.mean + 0.195) < 1e-9, `${found!.effect.mean}`);
  const [said] = benchSentences(readEvidence("ppo"), [found!], (_, text) => text);
  assert.match(
    said!,
    /^A transformer does not show that it beats GRPO, in arena \S+ \(.*\)\. Behind: -19\.5 \[/,
  );
  assert.deepEqual(silent(page, [found!]), [found!]);
});

test("what arenas found stands in rows as it stands on the leaderboard", () => {
  const board = read("docs/leaderboard.md").split("\n");
  for (const result of known.filter(({ bench }) => bench.startsWith("arena "))) {
    const lines = board.filter((line) => line.startsWith(`| \`${result.method}\` |`));
    assert.ok(
      lines.some((line) => line.includes(`| ${written(result)} |`)),
      `${result.method}: ${written(result)} is not on the leaderboard`,
    );
  }
});

test("the first line counts what arenas found", () => {
  const [first = ""] = page.split("\n");
  for (const [bench, found] of Map.groupBy(
    known.filter((result) => result.bench.startsWith("arena ")),
    ({ bench }) => bench,
  )) {
    const count = (standing: string): number => found.filter((r) => standingOf(r) === standing).length;
    assert.match(
      first,
      new RegExp(
        `${bench}, ${found.length} methods: ${count("ahead")} ahead( \\([^)]+\\))?, ${count("not told apart")} not told apart, ${count("equal")} equal, ${count("behind")} behind`,
      ),
    );
  }
});

test("README.md counts what a transformer gains as arenas found it", () => {
  const found = known.filter(({ bench }) => bench.startsWith("arena "));
  const ahead = found.filter((result) => standingOf(result) === "ahead");
  const shown = ahead.filter(({ asked }) => asked?.includes("demonstrations"));
  const methods = (of: readonly BenchResult[]): number => new Set(of.map(({ method }) => method)).size;
  assert.match(
    read("README.md").replaceAll("\n", " "),
    new RegExp(
      `of ${methods(found)} methods that trained one in a frozen task, ${methods(ahead)} are ahead of tuned GRPO, ${methods(shown)} of them with demonstrations`,
    ),
  );
});

test("sentences: a claim is borne out, in part, or not; without a claim nothing is contradicted", () => {
  const result = (low: number, high: number): BenchResult => ({
    ...{
      method: "ppo",
      opponent: "grpo",
      bench: "b",
      page: "docs/b.md",
      world: "w",
      level: "shared" as const,
    },
    ...{ metric: "success", confidence: 0.95, tuning: "both tuned" },
    effect: { mean: (low + high) / 2, low, high, n: 8 },
  });
  const claims = readEvidence("ppo")!;
  assert.ok(claimsToBeat(claims, "grpo") && !claimsToBeat(claims, "dpo"));
  const [lost, won] = [result(-0.3, -0.1), result(0.1, 0.3)];
  // no seed differs: the method is the other one here, which an interval around 0 does not say
  assert.match(benchSentences(claims, [result(0, 0)])[0]!, /does not show .*Equal: 0\.0 \[0\.0, 0\.0\]/);
  assert.deepEqual([result(0, 0), result(-0.1, 0.1)].map(standingOf), ["equal", "not told apart"]);
  assert.match(
    benchSentences(claims, [lost])[0]!,
    /does not show that it beats GRPO, .*Behind: -20\.0 \[-30\.0, -10\.0\]/,
  );
  assert.match(
    benchSentences(claims, [lost, won])[0]!,
    /shows only in part that it beats GRPO, .*Ahead: \+20\.0/,
  );
  assert.match(benchSentences(claims, [won])[0]!, /shows that it beats GRPO/);
  assert.match(
    benchSentences({ ...claims, verdict: "inconclusive" }, [lost])[0]!,
    /^A comparison against GRPO/,
  );
  const other = { ...claims, baseline: { ...claims.baseline, what: "imitation" }, simpler: [] };
  assert.match(benchSentences(other, [lost])[0]!, /which is not the opponent of its row/);
});

test("the tables of whetstone compare are read back: the first row is the opponent, a setting in brackets was tuned", () => {
  const run = (method: string, seed: number, test: number) => ({
    ...{ method, seed, heldOut: { test }, curve: [test], episodes: 1, tokens: 1, seconds: 1 },
  });
  const runs = [run("grpo", 1, 0.4), run("rloo", 1, 0.5), run("grpo", 2, 0.5), run("rloo", 2, 0.8)];
  const about = { env: "facts", engine: "local", seeds: [1, 2], tuningSeeds: 5, iterations: 3 };
  const tried = [1, 2].map((learningRate) => ({ choice: { learningRate }, training: 0.5 }));
  const one = { chosen: { learningRate: 1 }, tried, atEdge: [] };
  const tuned = new Map(["grpo", "rloo"].map((id) => [id, one]));
  const [found, ...more] = comparisonsIn(
    "docs/comparisons/x.md",
    comparisonPage(compareRuns(about, runs, tuned)),
  );
  assert.deepEqual(more, []);
  assert.deepEqual(
    [found!.method, found!.opponent, found!.world, found!.level, found!.tuning, found!.effect.n],
    ["rloo", "grpo", "facts, test", "neural", "both tuned on other seeds", 2],
  );
  assert.ok(Math.abs(found!.effect.mean - 0.2) < 1e-9);
  const [plain] = comparisonsIn("docs/comparisons/x.md", comparisonPage(compareRuns(about, runs)));
  assert.equal(plain!.tuning, "default settings, not tuned");
});

test("two seeds tell nothing apart, also where both differ by the same", () => {
  const effect = { mean: 0.033, low: 0.033, high: 0.033 };
  assert.equal(standingOf({ effect: { ...effect, n: 2 } }), "not told apart");
  assert.equal(standingOf({ effect: { ...effect, n: 3 } }), "ahead");
});
