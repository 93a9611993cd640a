// Curricula against a uniform choice of tasks, at equal budgets of sampled tokens, in two shared worlds.
//
//     node bench/curricula.ts secrets & node bench/curricula.ts chains; wait     # the runs of a world
//     node bench/curricula.ts chains pcl exit                                    # those of some methods in it
//     node bench/curricula.ts                                                    # what is left, and the page
//
// What lies in bench/results/curricula.jsonl is not run again. Writes the measured part of docs/comparisons/curricula.md, and
// every difference on it to docs/comparisons/curricula.json.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../src/common/files/files.ts";
import { resultsOf, tablesOf } from "./curricula/page.ts";
import {
  type CurriculaRun,
  contestants,
  curriculaRun,
  keyOf,
  nextRate,
  reportedSeeds,
  tuningSeeds,
} from "./curricula/run.ts";
import { worlds } from "./curricula/worlds.ts";
import { withMeasured } from "./feedback/page.ts";
import { keptRows } from "./keptRows.ts";
import { progress } from "./report.ts";

const root = join(import.meta.dirname, "..");
const results = join(root, "bench/results/curricula.jsonl");
const page = join(root, "docs/comparisons/curricula");

const [named, ...some] = process.argv.slice(2);
const known = new Map(keptRows<CurriculaRun>(results).map((run) => [keyOf(run), run]));
for (const world of worlds.filter(({ name }) => name === (named ?? name))) {
  for (const recipe of contestants.filter(({ id }) => some.length === 0 || some.includes(id))) {
    const measured = async (rate: number, seed: number): Promise<CurriculaRun> => {
      const key = keyOf({ world: world.name, method: recipe.id, rate, seed });
      const found = known.get(key);
      if (found) return found;
      const run = await curriculaRun(recipe, world, rate, seed);
      known.set(key, run);
      const rounded = (_: string, x: unknown) => (typeof x === "number" ? Number(x.toPrecision(6)) : x);
      appendFileSync(results, `${JSON.stringify(run, rounded)}\n`);
      return run;
    };
    const tried: CurriculaRun[] = [];
    let next = nextRate(tried);
    while (next.kind === "try") {
      for (const seed of tuningSeeds) tried.push(await measured(next.rate, seed));
      next = nextRate(tried);
    }
    for (const seed of reportedSeeds) await measured(next.rate, seed);
    progress(`${world.name} · ${recipe.id}: step size ${next.rate}`);
  }
}
if (named === undefined) {
  const runs = [...known.values()];
  const text = withMeasured(readFileSync(`${page}.md`, "utf8"), tablesOf(runs), "bench/curricula.ts");
  await replaceFile(`${page}.md`, text);
  await replaceFile(`${page}.json`, `${JSON.stringify(resultsOf(runs), undefined, 2)}\n`);
}
