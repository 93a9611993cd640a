/** `whetstone league`, as scripts meet it. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

const folder = mkdtempSync(join(temporary, "whetstone-league-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const store = join(folder, "store.sqlite");

interface Report {
  readonly type: string;
  readonly exact: boolean;
  readonly members: readonly {
    readonly name: string;
    readonly games: number;
    readonly exploitability?: number;
  }[];
  readonly payoffs: readonly (readonly number[])[];
}

test("league: two runs, their checkpoints and the players are rated; what was played is not played again", async () => {
  const runs = ["a", "b"].map((name) => join(folder, name));
  for (const [i, out] of runs.entries()) {
    const trained = await inProcess([
      ...["train", "--env", "kuhn-poker", "--method", "league-self-play", "--engine", "tabular"],
      ...[
        "--iterations",
        "3",
        "--keep-every",
        "2",
        "--seed",
        String(i),
        "--out",
        out,
        "--store",
        store,
        "--eval-tasks",
        "2",
      ],
    ]);
    assert.equal(trained.code, 0, trained.err);
  }
  const kept = join(folder, "made", "league.jsonl");
  const args = ["league", ...runs, "--games", "20", "--out", kept, "--store", store, "--json"];
  const whole = await inProcess(args);
  assert.equal(whole.code, 0, whole.err);
  const report = JSON.parse(whole.out) as Report;
  assert.equal(report.type, "league");
  assert.deepEqual(report.members.map(({ name }) => name).sort(), ["random", "reference", ...runs].sort());
  assert.ok(report.members.every(({ games }) => games === 3 * 20));
  assert.ok(report.members.find(({ name }) => name === "reference")!.exploitability! < 0.001);
  assert.ok(Math.abs(report.members.find(({ name }) => name === "random")!.exploitability! - 11 / 24) < 1e-9);
  for (const [i, row] of report.payoffs.entries())
    for (const [j, x] of row.entries()) assert.equal(x, -report.payoffs[j]![i]! + 0);

  // killed in the middle of a line: the rest is played again, and comes to the same
  const lines = readFileSync(kept, "utf8");
  writeFileSync(kept, lines.slice(0, Math.floor(lines.length * 0.6)));
  const resumed = await inProcess(args);
  assert.equal(resumed.out, whole.out);
  assert.equal(readFileSync(kept, "utf8"), lines);
  assert.deepEqual(JSON.parse(lines.trim().split("\n").at(-1)!).report.members, report.members);
  const below = await inProcess(args.map((arg) => (arg === kept ? join(kept, "league.jsonl") : arg)));
  assert.equal(below.code, 1);
  assert.match(below.err, /--out/);
  assert.doesNotMatch(below.err, /unexpected/);
  const other = await inProcess([...args.slice(0, -1), "--seed", "9"]);
  assert.equal(other.code, 2);
  assert.match(other.err, /league\.jsonl, which holds something else/);

  const more = await inProcess([
    "league",
    runs[0]!,
    "--checkpoints",
    "--no-players",
    "--games",
    "4",
    "--store",
    store,
  ]);
  assert.equal(more.code, 0, more.err);
  assert.deepEqual(readdirSync(join(runs[0]!, "kept")), ["00000000", "00000002"]);
  assert.match(more.out, /kuhn-poker, 3 members/);

  // one run under three names is one member, and an id leads to its stages as a folder does
  const [a, rest] = [runs[0]!, ["--no-players", "--games", "4", "--store", store]];
  const spelt = await inProcess(["league", a, `${a}/`, join(a, "final"), runs[1]!, ...rest]);
  assert.match(spelt.out, /kuhn-poker, 2 members/);
  const byId = await inProcess(["league", "a", "--checkpoints", ...rest]);
  assert.match(byId.out, /kuhn-poker, 3 members/);
  for (const [named, said] of [
    [[join(a, "final"), "--checkpoints"], /--checkpoints: got .*final, with no weights of its stages/],
    [[a, "--env", "tic-tac-toe"], /trained on kuhn-poker and lacks words of tic-tac-toe/],
  ] as const) {
    const { code, err } = await inProcess(["league", ...named, ...rest]);
    assert.equal(code, 2, err);
    assert.match(err, said);
  }
});

test("league: a run called as a scripted player is refused, and plays where that player does not", async () => {
  const out = join(folder, "random");
  const trained = await inProcess([
    ...["train", "--env", "kuhn-poker", "--method", "rloo", "--engine", "tabular", "--iterations", "1"],
    ...["--out", out, "--store", join(folder, "random.sqlite"), "--eval-tasks", "2"],
  ]);
  assert.equal(trained.code, 0, trained.err);
  const args = ["league", "random", "--games", "4", "--store", join(folder, "random.sqlite")];
  const refused = await inProcess(args);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /two members called "random"/);
  const named = await inProcess(["league", out, ...args.slice(2)]);
  assert.match(named.out, /kuhn-poker, 3 members/);
});

test("league: wrong usage is said in one line", async () => {
  for (const [args, said] of [
    [["--env", "facts"], /in which only the role agent acts/],
    [["--env", "kuhn-poker", "--no-players"], /0 members/],
    [[], /no run that names its game/],
    [["--env", "kuhn-poker", "--checkpoints"], /--checkpoints: got no run/],
    [["--env", "kuhn-poker", "--games", "1"], /--games/],
  ] as const) {
    const { code, err } = await inProcess(["league", ...args, "--store", store]);
    assert.equal(code, 2, err);
    assert.match(err, said);
  }
  const players = await inProcess(["league", "--env", "rock-paper-scissors", "--games", "10"]);
  assert.equal(players.code, 0);
  assert.match(players.out, /reference/);
  assert.match(players.out, /No circles/);
});
