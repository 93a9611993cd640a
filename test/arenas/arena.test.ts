/** Arenas are frozen, the command runs a protocol to its end and goes on where it was, and the leaderboard says what the raw runs say. */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { test } from "node:test";
import { type Arena, type ArenaRun, arenaDigest } from "../../src/arenas/arena.ts";
import { arenas } from "../../src/arenas/index.ts";
import { leaderboard, leaderboardPage } from "../../src/arenas/leaderboard.ts";
import { resultFiles, resultsIn } from "../../src/arenas/results.ts";
import { type ArenaResult, arenaResult, atEdge, stepSizes } from "../../src/arenas/runs.ts";
import { search } from "../../src/arenas/search/arena.ts";
import { runArena } from "../../src/cli/arena.ts";
import { createIo } from "../../src/cli/output.ts";
import { findMethod } from "../../src/methods/catalogue.ts";
import { inProcess } from "../cli/inProcess.ts";
import { temporary } from "../temporary.ts";

/** A changed arena is a new arena: give it another name, and leave these as they are. */
const frozen: Readonly<Record<string, string>> = {
  search: "ce8089c81821a175",
  trail: "1ab8d775c7820af9",
  programs: "e2acfbe374c8f0fd",
  instructions: "72f4e424a6da6012",
  orders: "512f91624707ff2d",
};

test("every arena is the one that its first method ran in", async () => {
  assert.deepEqual(
    arenas.map(({ name }) => name),
    Object.keys(frozen),
  );
  for (const arena of arenas) assert.equal(await arenaDigest(arena), frozen[arena.name]);
});

test("another budget, another task or another reward makes another arena", async () => {
  const world = search.environment();
  const others: readonly Arena[] = [
    { ...search, rates: [1e-4] },
    { ...search, budget: { ...search.budget, groupSize: 4 } },
    { ...search, environment: () => ({ ...world, tasks: (split) => world.tasks(split).slice(1) }) },
    {
      ...search,
      environment: () => ({
        ...world,
        async start(task, random) {
          const episode = await world.start(task, random);
          return {
            ...episode,
            async act(action) {
              const { rewards, ...step } = await episode.act(action);
              return { ...step, ...(rewards && { rewards: { outcome: 2 } }) };
            },
          };
        },
      }),
    },
  ];
  for (const other of others) assert.notEqual(await arenaDigest(other), frozen.search);
});

test("search: no test or validation question starts from a name that a training question starts from", () => {
  const world = search.environment();
  const names = (split: string): Set<unknown> =>
    new Set(world.tasks(split).map(({ metadata }) => (metadata as { entity: string }).entity));
  const trained = names("train");
  for (const split of ["validation", "test"])
    assert.deepEqual(
      [...names(split)].filter((name) => trained.has(name)),
      [],
    );
  assert.deepEqual(
    world.splits.map((split) => world.tasks(split).length),
    [1400, 56, 140],
  );
});

const silent = new Writable({ write: (_, __, done) => done() });

interface Line {
  readonly name: string;
  readonly result: ArenaRun;
}
const linesOf = (file: string): readonly Line[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** The search arena with a handful of tasks: seconds in place of minutes. */
const tiny: Arena = {
  ...search,
  environment() {
    const world = search.environment();
    return { ...world, tasks: (split) => world.tasks(split).slice(0, 8) };
  },
  rates: [2.5e-4, 5e-4, 1e-3],
  tuningSeeds: 1,
  seeds: 2,
};

test("the command, on a tiny budget: all runs of the protocol, a page, and only what is missing is made again", async () => {
  const out = mkdtempSync(join(temporary, "whetstone-arena-"));
  const files = resultFiles(tiny, out);
  const asked = ["rloo", "gepa"].map((id) => findMethod(id));
  const run = () =>
    runArena(tiny, asked, { out, iterations: "1", threads: "1" }, createIo([], { out: silent, err: silent }));
  await run();
  const first = linesOf(files.runs);
  // untrained: 2 seeds; two methods: 2 seeds, and a tuning seed at each step size: the arena's, and further ones beyond the best
  for (const method of ["grpo", "rloo"]) {
    const own = first.filter(({ name }) => name.includes(`/${method}/`));
    const tuned = own.filter(({ name }) => name.endsWith("/1000000"));
    assert.equal(own.length - tuned.length, 2);
    const rates = tuned.map(({ name }) => Number(name.split("/")[2])).toSorted((a, b) => a - b);
    const ladder = stepSizes(tiny);
    assert.deepEqual(rates, ladder.slice(ladder.indexOf(rates[0]!)).slice(0, rates.length));
    for (const rate of tiny.rates) assert.ok(rates.includes(rate));
  }
  for (const { name, result } of first) {
    assert.equal(result.episodes, name.includes("/untrained/") ? 0 : 32);
    assert.ok(result.test >= 0 && result.test <= 1);
  }
  const page = readFileSync(join(out, "leaderboard.md"), "utf8");
  assert.match(page, /\| `grpo` \| neural \|/);
  assert.match(page, /\| `rloo` \| (neural|it finds nothing here) /); // one iteration may leave all attempts as they were
  assert.match(page, /\| `gepa` \| it learns without weights \|/);

  // cut off within a line, as by a lost machine
  const text = readFileSync(files.runs, "utf8").split("\n").slice(0, -3).join("\n");
  writeFileSync(files.runs, `${text}\n`);
  appendFileSync(files.runs, '{"name":"half');
  await run();
  const again = linesOf(files.runs);
  const figures = (lines: readonly Line[]) =>
    lines.map(({ name, result: { seconds: _, commit: __, ...rest } }) => ({ name, ...rest }));
  assert.deepEqual(figures(again), figures(first));
  assert.deepEqual(again.slice(0, -2), first.slice(0, -2)); // to the second: these were not made again
});

/** What is chosen where a step size is worth so much. */
async function chosen(worth: (rate: number) => number): Promise<ArenaResult> {
  const arena = { ...search, rates: [1e-4, 1e-3, 1e-2] };
  const absent: ArenaRun = {
    validation: 0,
    test: 0,
    curve: [],
    episodes: 0,
    tokens: 0,
    seconds: 0,
    commit: "",
  };
  return arenaResult(arena, "grpo", { base: 1, seeds: 8 }, async (units) =>
    units.map((unit) => ({ ...absent, validation: worth(stepSizes(arena)[unit.choice]!) })),
  );
}

test("a step size at the end of those tried is no result: the next beyond it is tried, up to three", async () => {
  assert.deepEqual(
    stepSizes({ rates: [1e-4, 1e-3, 1e-2] }),
    [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10],
  );
  const peak = (at: number) => chosen((rate) => -Math.abs(Math.log10(rate / at)));
  const inside = await peak(1e-3);
  assert.deepEqual([inside.rate, inside.tried.length, atEdge(inside)], [1e-3, 3, false]);
  const lower = await peak(1e-5);
  assert.deepEqual([lower.rate, lower.tried, atEdge(lower)], [1e-5, [1e-6, 1e-5, 1e-4, 1e-3, 1e-2], false]);
  const higher = await peak(0.1);
  assert.deepEqual([higher.rate, higher.tried.at(-1), atEdge(higher)], [0.1, 1, false]);
  const beyond = await peak(1e-9);
  assert.deepEqual([beyond.rate, beyond.tried.length, atEdge(beyond)], [1e-7, 6, true]);
  // where all are equal, none is better further out
  const flat = await chosen(() => 0);
  assert.deepEqual([flat.rate, flat.tried.length, atEdge(flat)], [1e-4, 3, false]);
});

test("arena: unknown names, and a trial that would be written among the results, are refused", async () => {
  const said = async (...args: string[]): Promise<string> => {
    const { code, err } = await inProcess(["arena", ...args]);
    assert.equal(code, 2);
    return err;
  };
  assert.match(await said("serach"), /search/);
  assert.match(await said("search", "grop"), /grpo/);
  assert.match(await said("search", "grpo", "--iterations", "1"), /--out/);
});

test("other base seeds draw other tuning seeds, and make the experiment again", async () => {
  const out = mkdtempSync(join(temporary, "whetstone-arena-"));
  const io = createIo([], { out: silent, err: silent });
  for (const baseSeed of ["1", "1001"])
    await runArena(tiny, [], { out, iterations: "1", threads: "2", baseSeed }, io);
  const seeds = linesOf(resultFiles(tiny, out).runs).map(({ name }) => Number(name.split("/")[3]));
  assert.deepEqual(
    [...new Set(seeds)].toSorted((a, b) => a - b),
    [1, 2, 1001, 1002, 1_000_000, 1_001_000],
  );
  const { byBase } = await resultsIn(tiny, resultFiles(tiny, out));
  assert.deepEqual([...byBase.keys()], [1, 1001]);
  const { code, err } = await inProcess(["arena", "search", "grpo", "--base-seed", "5"]);
  assert.equal(code, 2);
  assert.match(err, /1001/);
});

test("docs/leaderboard.md is what the raw runs say", async () => {
  const shown = arenas.map((arena) => ({ arena, files: resultFiles(arena) }));
  const page = readFileSync(leaderboardPage, "utf8");
  assert.equal(page, await leaderboard(shown));

  // its figures, by hand
  for (const { arena, files } of shown) {
    if (!existsSync(files.runs)) continue; // not run yet
    const rows = page
      .slice(page.indexOf(`## ${arena.name}: `))
      .split("\n### ")[0]!
      .split("\n")
      .filter((line) => /\| neural \|/.test(line))
      .map((line) => line.split("|").map((cell) => cell.trim()));
    assert.ok(rows.length >= 2, arena.name);
    const runs = linesOf(files.runs);
    const reported = (method: string): readonly number[] => reportedOf(runs, arena, method);
    const against = reported("grpo");
    for (const [, id, , success, difference] of rows) {
      const own = reported(id!.replaceAll("`", ""));
      assert.equal(success!.split(" ")[0], (100 * average(own)).toFixed(1));
      if (difference === "" || difference === "equal, run by run") {
        if (difference !== "") assert.deepEqual(own, against);
        continue;
      }
      const mean = 100 * average(own.map((x, i) => x - against[i]!));
      assert.equal(Number.parseFloat(difference!), Number(mean.toFixed(1)));
    }
    assert.ok(existsSync(files.excluded));
  }
});

const average = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0) / xs.length;

/** Test success on seeds 1 to 8 at the step size with the best mean validation success on seeds from a million. */
function reportedOf(runs: readonly Line[], { name: arena, tuningSeeds }: Arena, method: string) {
  const own = runs.filter(({ name }) => name.startsWith(`${frozen[arena]}/${method}/`));
  const seedOf = ({ name }: Line): number => Number(name.split("/")[3]);
  const tuning = own.filter((line) => seedOf(line) >= 1e6 && seedOf(line) < 1e6 + 1000);
  const validation = Map.groupBy(tuning, ({ name }) => name.split("/")[2]!);
  for (const one of validation.values()) assert.equal(one.length, tuningSeeds);
  const best = [...validation]
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([rate, lines]) => ({ rate, worth: average(lines.map(({ result }) => result.validation)) }))
    .reduce((a, b) => (b.worth > a.worth ? b : a), { rate: "0", worth: -1 });
  return [1, 2, 3, 4, 5, 6, 7, 8].map(
    (seed) => own.find(({ name }) => name === `${frozen[arena]}/${method}/${best.rate}/${seed}`)!.result.test,
  );
}
