import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { autoRollback } from "../../src/release/autoRollback.ts";
import { releaseController } from "../../src/release/controller.ts";
import { openTrafficStore } from "../../src/store/openTrafficStore.ts";
import type { TrafficStore } from "../../src/store/trafficStore.ts";
import { traffic, version } from "./traffic.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-release-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let stores = 0;

const begin = 1_700_000_000_000;
const hour = 3_600_000;

async function withDesk(
  work: (made: {
    readonly production: TrafficStore;
    readonly clock: { at: number };
    readonly desk: ReturnType<typeof releaseController>;
  }) => Promise<void>,
): Promise<void> {
  const production = await openTrafficStore(join(folder, `${stores++}.sqlite`));
  const clock = { at: begin };
  try {
    for (const id of ["base", "tuned"]) await production.addVersion(version(id));
    const desk = releaseController({ production, window: hour, now: () => clock.at });
    await work({ production, clock, desk });
  } finally {
    await production.close();
  }
}

test("a better version is promoted by the evidence, a unit counting once its window has closed", () =>
  withDesk(async ({ production, clock, desk }) => {
    const split = await desk.split({ base: 0.5, tuned: 0.5 }, "halves");
    await traffic(production, split, {
      sessions: 600,
      from: begin,
      liked: (v) => (v === "tuned" ? 0.8 : 0.5),
    });
    clock.at = begin + 1000 * 599; // ten minutes in: every window is open
    const early = await desk.state();
    assert.equal(early.baseline, "base");
    assert.deepEqual(
      early.live.map((v) => v.units),
      [0, 0],
    );
    assert.equal(
      early.live.reduce((sum, v) => sum + v.open, 0),
      600,
    );
    assert.equal(early.judgements[0]!.decision, "hold");

    clock.at = begin + 2 * hour;
    const state = await desk.state();
    const [judgement] = state.judgements;
    assert.equal(judgement!.decision, "promote");
    assert.equal(judgement!.candidate.units + judgement!.baseline.units, 600);
    assert.ok(judgement!.difference.low > 0 && judgement!.difference.high < 0.6);
    const tuned = state.live.find((v) => v.version === "tuned")!;
    assert.ok(tuned.estimate!.trusted);
    // self-normalised with one propensity: the mean of those that it answered
    assert.ok(Math.abs(tuned.estimate!.interval.mean - judgement!.candidate.mean) < 1e-9);

    const after_ = await desk.promote("tuned", "better");
    assert.deepEqual(after_.shares, { tuned: 1 });
    assert.deepEqual((await desk.state()).judgements, []);
    assert.deepEqual(
      (await production.splits()).map((s) => s.why),
      ["halves", "better"],
    );
  }));

test("equal versions are held; saying so again keeps the evidence, other shares begin anew", () =>
  withDesk(async ({ production, clock, desk }) => {
    const split = await desk.split({ base: 0.5, tuned: 0.5 }, "halves");
    await traffic(production, split, { sessions: 200, from: begin, liked: () => 0.5, said: 0.5 });
    clock.at = begin + 2 * hour;
    const held = (await desk.state()).judgements[0]!;
    assert.equal(held.decision, "hold");
    assert.ok(held.candidate.rewarded < held.candidate.units, "silence is missing, not 0");
    await desk.hold("not yet");
    assert.equal((await desk.state()).judgements[0]!.candidate.units, held.candidate.units);
    await desk.split({ base: 0.9, tuned: 0.1 }, "less of it");
    assert.equal((await desk.state()).judgements[0]!.candidate.units, 0);
  }));

test("signals that arrive after the window do not change what was looked at", () =>
  withDesk(async ({ production, clock, desk }) => {
    const split = await desk.split({ base: 0.5, tuned: 0.5 }, "halves");
    await traffic(production, split, { sessions: 40, from: begin, liked: () => 1, said: 0 });
    await production.write([
      {
        kind: "signal",
        signal: {
          id: "late",
          kind: "reaction",
          channel: "thumbs",
          about: [{ response: `r-${split.id}-session-0` }],
          value: 1,
          source: "user",
          at: begin + 5,
          received: begin + hour + 1,
          tags: {},
        },
      },
    ]);
    clock.at = begin + 3 * hour;
    const { candidate, baseline } = (await desk.state()).judgements[0]!;
    assert.equal(candidate.rewarded + baseline.rewarded, 0);
  }));

test("the guard rolls back what breaks a guardrail, once, and leaves the rest alone", () =>
  withDesk(async ({ production, clock, desk }) => {
    const split = await desk.split({ base: 0.7, tuned: 0.3 }, "candidate begins at 30 %");
    await traffic(production, split, {
      sessions: 300,
      from: begin,
      liked: () => 0.5,
      failing: (v) => (v === "tuned" ? 0.5 : 0.01),
    });
    // six minutes in: no window has closed, and nobody waits for feedback to see that calls fail
    clock.at = begin + 360_000;
    const acted: string[] = [];
    const guard = autoRollback({
      controller: desk,
      onAction: ({ did, version: v, judgement }) => acted.push(`${did} ${v}: ${judgement.why}`),
    });
    const [first, second] = await Promise.all([guard.look(), guard.look()]);
    await guard.close();
    assert.equal(first!.did, "roll back");
    assert.equal(second, undefined);
    assert.deepEqual(acted, ["roll back tuned: guardrail errors broken"]);
    const last = (await production.splits()).at(-1)!;
    assert.deepEqual(last.shares, { base: 1 });
    assert.match(last.why, /rolled back by the guard: guardrail errors broken/);
  }));

test("a bandit gives more to the better and keeps the floor", () =>
  withDesk(async ({ production, clock, desk }) => {
    const split = await desk.split({ base: 0.5, tuned: 0.5 }, "halves");
    await traffic(production, split, {
      sessions: 300,
      from: begin,
      liked: (v) => (v === "tuned" ? 0.9 : 0.3),
    });
    clock.at = begin + 2 * hour;
    const next = await desk.rebalance({ floor: 0.1 });
    assert.ok(Math.abs(next.shares.base! - 0.1) < 1e-9 && Math.abs(next.shares.tuned! - 0.9) < 1e-9);
    // and what the first shares taught is not forgotten under the second
    assert.ok((await desk.rebalance({ floor: 0.05 })).shares.tuned! > 0.9);
  }));

test("a version that leaves gives its share to the others in proportion", () =>
  withDesk(async ({ production, desk }) => {
    await production.addVersion(version("third"));
    await desk.split({ base: 0.6, tuned: 0.2, third: 0.2 }, "three");
    const { shares } = await desk.rollBack("tuned", "no");
    assert.ok(Math.abs(shares.base! - 0.75) < 1e-12 && Math.abs(shares.third! - 0.25) < 1e-12);
  }));

test("what cannot be is refused by name", () =>
  withDesk(async ({ desk }) => {
    await assert.rejects(desk.hold("?"), /a store without a split/);
    await assert.rejects(desk.split({ base: 0.5, tunde: 0.5 }, "?"), /Did you mean tuned\?/);
    await assert.rejects(desk.split({ base: 0.5, tuned: 0.4 }, "?"), /add up to 0.9/);
    await desk.split({ base: 1 }, "alone");
    await assert.rejects(desk.rollBack("base", "?"), /the only version in the split/);
    await assert.rejects(desk.rollBack("tuned", "?"), { code: "name.unknown" });
    assert.deepEqual((await desk.state()).judgements, []);
  }));

test("while many units are judged others have their turns", () =>
  withDesk(async ({ production, clock, desk }) => {
    const split = await desk.split({ base: 0.5, tuned: 0.5 }, "halves");
    await traffic(production, split, { sessions: 1000, from: begin, liked: () => 0.5 });
    clock.at = begin + 2 * hour;
    const [responses, signals] = [
      await Array.fromAsync(production.responses()),
      await Array.fromAsync(production.signals()),
    ];
    const splits = await production.splits();
    // a store that never lets go of the thread itself
    const held: TrafficStore = {
      ...production,
      versions: async () => [version("base"), version("tuned")],
      splits: async () => splits,
      async *responses() {
        yield* responses;
      },
      async *signals() {
        yield* signals;
      },
    };
    let [turns, over] = [0, false];
    const turn = (): void => {
      turns++;
      if (!over) setImmediate(turn);
    };
    setImmediate(turn);
    await releaseController({ production: held, window: hour, now: () => clock.at }).state({
      estimates: false,
    });
    over = true;
    assert.ok(turns >= (2 * 1000) / 64, `${turns}`);
  }));

test("a value that nobody expected blinds neither the guard nor the bandit", () =>
  withDesk(async ({ production, clock, desk }) => {
    const split = await desk.split({ base: 0.5, tuned: 0.5 }, "halves");
    await traffic(production, split, {
      sessions: 300,
      from: begin,
      liked: () => 0.5,
      failing: (v) => (v === "tuned" ? 1 : 0),
    });
    const stray = {
      id: "stray",
      kind: "score" as const,
      channel: "stars",
      about: [{ response: `r-${split.id}-session-7` }],
      value: 1e9,
      source: "user",
      at: begin + 20_000,
      received: begin + 20_000,
      tags: {},
    };
    await production.write([{ kind: "signal", signal: stray }]);
    clock.at = begin + 2 * hour;
    const { live, judgements } = await desk.state();
    assert.equal(judgements[0]!.decision, "roll back");
    assert.match(judgements[0]!.doubts.join(), /^1 units have a reward outside of 0 to 1/);
    assert.equal(judgements[0]!.candidate.rewarded + judgements[0]!.baseline.rewarded, 299);
    assert.ok(live.every(({ estimate }) => estimate!.interval.high <= 1));
    const { shares } = await desk.rebalance();
    assert.ok(Math.abs(shares.base! + shares.tuned! - 1) < 1e-9);
  }));

test("what reviewers say of feedback changes nothing that is thought of a version", () =>
  withDesk(async ({ production, clock, desk }) => {
    const split = await desk.split({ base: 0.5, tuned: 0.5 }, "halves");
    await traffic(production, split, { sessions: 20, from: begin, liked: () => 1, said: 0.5 });
    clock.at = begin + 2 * hour;
    const before = await desk.state();
    assert.ok(before.live.every(({ estimate }) => estimate !== undefined));
    const reviews = Array.from({ length: 20 }, (_, i) => ({
      id: `review-${i}`,
      kind: "reaction" as const,
      channel: "review",
      about: [{ response: `r-${split.id}-session-${i}` }],
      value: 0,
      text: "rejected",
      source: "reviewer",
      at: begin + 30_000,
      received: begin + 30_000,
      tags: { signal: `s-${split.id}-session-${i}` },
    }));
    await production.write(reviews.map((signal) => ({ kind: "signal", signal })));
    assert.deepEqual(await desk.state(), before);
  }));
