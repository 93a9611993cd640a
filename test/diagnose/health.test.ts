import assert from "node:assert/strict";
import { test } from "node:test";
import { wilsonInterval } from "../../src/common/statistics/statistics.ts";
import type { Curve } from "../../src/diagnose/health/curves.ts";
import { health } from "../../src/diagnose/health/health.ts";
import type { RunMeasurements } from "../../src/diagnose/health/measurements.ts";

const curve = (...value: number[]): Curve => ({ iteration: value.map((_, i) => i), value });
const steady = (n: number, value: number): Curve => curve(...Array.from({ length: n }, () => value));
const falling = curve(...Array.from({ length: 50 }, (_, i) => 2 * Math.exp(-i / 8)));
const look = (curves: Record<string, Curve>, more: Partial<RunMeasurements> = {}) =>
  health({ run: "a-run", env: "doors", curves, evaluations: [], findings: [], ...more });
const found = (curves: Record<string, Curve>, more: Partial<RunMeasurements> = {}) =>
  look(curves, more).findings.map(({ check }) => check);
const evaluated = (when: "before" | "during" | "after", iteration: number, wins: number, of = 200) => ({
  when,
  iteration,
  split: "test",
  mode: "sampled",
  success: wilsonInterval(wins, of),
});

test("a policy that became certain without succeeding is pointed out, one that succeeds is not", () => {
  // first five: 2·(1 + .8825 + .7788 + .6873 + .6065)/5 = 1.582; the last five are below 0.01
  const [finding] = look({ entropy: falling, success: steady(50, 0.4) }).findings;
  assert.equal(finding?.check, "entropy");
  assert.match(finding.problem, /from 1\.58 to 0\.00\d+ nats a token while success is 40 %/);
  assert.deepEqual([finding.from, finding.until], [45, 50]);
  assert.deepEqual(found({ entropy: falling, success: steady(50, 0.97) }), []);
});

test("entropy that fell to an eighth is pointed out where success stood still, and not where it rose", () => {
  const entropy = curve(...Array.from({ length: 250 }, (_, i) => Math.max(0.02, 0.15 - i / 1000)));
  assert.deepEqual(found({ entropy, success: steady(250, 0.2) }), ["entropy"]);
  const rising = curve(...Array.from({ length: 250 }, (_, i) => 0.2 + i / 500));
  assert.deepEqual(found({ entropy, success: rising }), []);
});

test("a run that learnt nothing says so, with what it may be; one that learnt does not", () => {
  // 37 and 45 of 200: 18.5 to 22.5 %, which may well be chance
  const flat = [evaluated("before", 0, 37), evaluated("after", 250, 45)];
  const [finding] = look({}, { evaluations: flat }).findings;
  assert.equal(finding?.check, "learnt");
  assert.match(
    finding.problem,
    /250 iterations: success on "test" went from 18.5 % to 22.5 % \(-3\.\d+ to \+11\.9 points\)/,
  );
  assert.deepEqual(
    found({}, { evaluations: [evaluated("before", 0, 37), evaluated("after", 250, 125)] }),
    [],
  );
  assert.deepEqual(
    found({}, { evaluations: [evaluated("before", 0, 190), evaluated("after", 250, 190)] }),
    [],
  );
  assert.deepEqual(found({}, { evaluations: [evaluated("before", 0, 37), evaluated("after", 2, 37)] }), []);
  // a run that goes on is judged by its validations
  const during = [evaluated("during", 0, 20, 100), evaluated("during", 60, 21, 100)];
  assert.deepEqual(found({}, { evaluations: during }), ["learnt"]);
  const byHeart = curve(...Array.from({ length: 100 }, (_, i) => i / 100));
  assert.match(look({ success: byHeart }, { evaluations: flat }).findings[0]?.fix ?? "", /by heart/);
});

test("a learning rate of 0 is named whatever was measured, and too few iterations say nothing", () => {
  const state = (curves: Record<string, Curve>, more: Partial<RunMeasurements> = {}) =>
    look(curves, more).checks.find(({ check }) => check === "learnt")?.state;
  const still = { learningRate: steady(3, 0) };
  const [finding] = look(still).findings;
  assert.equal(finding?.check, "learnt");
  assert.match(finding.problem, /The learning rate was 0 throughout \(3 iterations\)/);
  // by chance better, or solved from the start
  const lucky = [evaluated("before", 0, 37), evaluated("after", 3, 80)];
  assert.equal(state(still, { evaluations: lucky }), "found");
  const solved = [evaluated("before", 0, 190), evaluated("after", 250, 190)];
  assert.equal(state(still, { evaluations: solved }), "found");
  const moving = { learningRate: curve(0, 0.1, 0.1) };
  assert.equal(state(moving, { evaluations: lucky }), "passed");
  assert.equal(state(moving, { evaluations: solved }), "not measured");
  const short = [evaluated("before", 0, 37), evaluated("after", 3, 37)];
  assert.equal(state(moving, { evaluations: short }), "not measured");
});

/** From one value to another in a straight line, with noise that repeats. */
const line = (from: number, to: number, n = 60) =>
  curve(...Array.from({ length: n }, (_, i) => from + ((to - from) * i) / n + 0.03 * Math.sin(7 * i)));

test("a reward that rises while success falls is named, in training or on held-out tasks, and nothing else is blamed", () => {
  const turned = { reward: line(0.5, 0.9), success: line(0.5, 0.1) };
  const [finding, ...others] = look(turned).findings;
  assert.equal(finding?.check, "opposed");
  assert.match(
    finding.problem,
    /reward in training rose from 0\.5\d* to 0\.8\d* while success in training fell/,
  );
  assert.deepEqual(
    [finding.severity, /^Unless tasks became harder/.test(finding.fix ?? "")],
    ["warning", true],
  );
  assert.deepEqual(others, []);
  const [fall, rise] = [
    [evaluated("before", 0, 120), evaluated("after", 60, 60)],
    [evaluated("before", 0, 60), evaluated("after", 60, 120)],
  ];
  // the weights of the start were put back
  const back = [evaluated("before", 0, 90), evaluated("after", 60, 90)];
  assert.ok(found(turned, { evaluations: back }).includes("opposed"));
  const held = look({ ...turned, success: line(0.5, 0.5) }, { evaluations: fall! }).findings;
  assert.deepEqual(
    held.map(({ check }) => check),
    ["learnt", "opposed"],
  );
  assert.match(held[1]!.problem, /while success on "test" fell from 60 % to 30 %/);
  assert.match(held[0]!.fix, /The other findings say why/);
  assert.equal(held[1]!.severity, "error");
  // better at one kind of task, worse at another
  const other = (all: typeof fall) => all!.map((e) => ({ ...e, split: "other" }));
  assert.deepEqual(found(turned, { evaluations: [...fall!, ...other(rise)] }), ["success"]);
  // tasks become harder
  assert.deepEqual(found({ reward: line(0.5, 0.9), success: line(0.5, 0.4) }, { evaluations: rise! }), []);
});

test("a run whose reward and success move together, stand still or fall is not accused of opposing them", () => {
  for (const [reward, success] of [
    [line(0.2, 0.9), line(0.2, 0.9)],
    [line(0.5, 0.5), line(0.5, 0.3)],
    [line(0.5, 0.9), line(0.5, 0.47)],
    [line(0.9, 0.5), line(0.9, 0.5)],
  ] as const)
    assert.ok(!found({ reward, success }).includes("opposed"));
});

test("a policy that was never rewarded is told from a constant reward and from one that solves all", () => {
  assert.deepEqual(found({ success: steady(5, 0), reward: steady(5, 0) }), ["rewarded"]);
  assert.match(
    look({ success: steady(5, 0), reward: steady(5, 0) }).findings[0]?.next ?? "",
    /validate doors/,
  );
  assert.deepEqual(found({ success: steady(5, 0), reward: curve(0, 0.1, 0, 0, 0) }), []);
  assert.deepEqual(found({ reward: steady(100, 0) }), ["reward"]);
  assert.deepEqual(found({ reward: steady(100, 1), success: steady(100, 1) }), []);
  assert.deepEqual(found({}, { evaluations: [evaluated("before", 0, 200)] }), ["headroom"]);
});

test("success that falls is pointed out, and so are tokens that are too old", () => {
  const fell = curve(...Array.from({ length: 40 }, (_, i) => 0.9 - i / 100));
  // first five: 0.9 - 0.02, last five: 0.9 - 0.37
  const [finding] = look({ success: fell }).findings;
  assert.equal(finding?.check, "success");
  assert.match(finding.problem, /fell from 88 % to 53 %/);
  assert.deepEqual(found({ success: curve(...Array.from({ length: 40 }, (_, i) => 0.9 - i / 400)) }), []);
  assert.deepEqual(found({ "importance.truncated": steady(20, 0.08) }), ["stale"]);
  assert.deepEqual(found({ "importance.truncated": steady(20, 0.02) }), []);
});

test("groups in which all earned the same reward: how many are always solved and how many never, and what the larger part asks for", () => {
  const equal = (solved: number, unsolved: number) =>
    look({
      deadGroups: steady(20, 0.95),
      solvedGroups: steady(20, solved),
      unsolvedGroups: steady(20, unsolved),
      success: steady(20, 0.6),
    }).findings[0];
  const split = equal(0.4, 0.55);
  assert.match(split?.problem ?? "", /^In 95 % of the groups all attempts earned the same reward/);
  assert.match(split?.problem ?? "", /every attempt succeeds in 40 % of the groups, none in 55 %/);
  assert.match(split?.fix ?? "", /begin with easier/);
  assert.match(equal(0.55, 0.4)?.fix ?? "", /train on harder/);
  assert.deepEqual(found({ deadGroups: steady(20, 0.5) }), []);
  // of a run of before, which kept the dead share alone
  assert.match(
    look({ deadGroups: steady(20, 0.9), success: steady(20, 0.05) }).findings[0]?.fix ?? "",
    /easier/,
  );
});

test("a task set that is solved is no problem of groups", () => {
  const solved = {
    deadGroups: steady(20, 0.97),
    solvedGroups: steady(20, 0.97),
    unsolvedGroups: steady(20, 0),
  };
  const report = look({ ...solved, success: steady(20, 0.97) });
  assert.deepEqual(report.findings, []);
  assert.equal(report.checks.find(({ check }) => check === "groups")?.state, "passed");
});

/** Evaluations of the same tasks: so many succeed before and after, so many were lost and so many gained. */
function paired(both: number, lost: number, gained: number, neither: number, more: object = {}) {
  const word = (...parts: readonly [number, string][]) => parts.map(([n, c]) => c.repeat(n)).join("");
  const of = both + lost + gained + neither;
  return [
    {
      ...evaluated("before", 0, both + lost, of),
      outcomes: word([both + lost, "1"], [gained + neither, "0"]),
      ...more,
    },
    {
      ...evaluated("after", 80, both + gained, of),
      outcomes: word([both, "1"], [lost, "0"], [gained, "1"], [neither, "0"]),
      ...more,
    },
  ];
}

test("before and after are compared task by task", () => {
  // 13 to 19 of 24, nothing lost: 25 points, deviation 0.442, t(0.975, 23) = 2.069: 6.3 to 43.7; unpaired: -2 to 48
  assert.deepEqual(found({}, { evaluations: paired(13, 0, 6, 5) }), []);
  assert.deepEqual(
    found({}, { evaluations: paired(13, 0, 6, 5).map(({ outcomes: _, ...unpaired }) => unpaired) }),
    ["learnt"],
  );
  // failed episodes are left out of the pairs
  const failed = paired(13, 0, 6, 5).map((e) => ({ ...e, outcomes: `-${e.outcomes.slice(1)}` }));
  assert.deepEqual(found({}, { evaluations: failed }), []);
});

test("a gain that few tasks cannot tell from chance asks for more tasks, not for more training", () => {
  const [finding] = look({}, { evaluations: paired(11, 2, 5, 6) }).findings;
  assert.match(
    finding?.problem ?? "",
    /^Success on "test" went from 54.2 % to 66.7 %.*too few held-out tasks to tell \(24\)/,
  );
  assert.doesNotMatch(finding?.problem ?? "", /Nothing/);
  assert.match(finding?.fix ?? "", /Evaluate on more/);
});

test("what greedy actions learnt was learnt; a split that is trained on is not learnt by heart", () => {
  const sampled = paired(20, 10, 11, 159);
  const greedy = paired(20, 0, 60, 120, { mode: "greedy" });
  assert.deepEqual(found({}, { evaluations: sampled }), ["learnt"]);
  assert.deepEqual(found({}, { evaluations: [...sampled, ...greedy] }), []);
  const rising = { success: curve(...Array.from({ length: 100 }, (_, i) => i / 100)) };
  const fix = (trainedShare: number) =>
    look(rising, { evaluations: sampled.map((e) => ({ ...e, trainedShare })) }).findings[0]?.fix ?? "";
  assert.match(fix(0), /by heart/);
  assert.doesNotMatch(fix(1), /by heart|more different/);
});

test("a single iteration is enough to see episodes that fail, that do not act, that are cut off", () => {
  const failed = { "total.episodes": curve(64), "total.episodes.failed": curve(18) };
  const [finding] = look(failed).findings;
  assert.match(finding?.problem ?? "", /^28.1 % of all episodes failed/);
  assert.deepEqual([finding?.severity, finding?.episodes], ["warning", "failed"]);
  assert.equal(finding?.next, "whetstone show a-run --failed");
  assert.deepEqual(found({ "total.episodes": curve(64) }), []);
  assert.deepEqual(found({ turns: curve(0), truncated: curve(1) }), ["actions", "truncated"]);
  assert.deepEqual(found({ turns: curve(3), truncated: curve(0.4) }), []);
  assert.deepEqual(found({ turns: steady(20, 3), truncated: steady(20, 0.4) }), ["truncated"]);
});

test("a gap between sampling and training, drift, a gradient that jumps or is no number any more", () => {
  assert.deepEqual(found({ logpGap: curve(...Array<number>(19).fill(1e-6), 0.02) }), ["gap"]);
  const means = (late: number) => curve(...Array<number>(20).fill(2e-6), ...Array<number>(20).fill(late));
  const largest = curve(...Array<number>(40).fill(5e-4));
  assert.deepEqual(found({ logpGap: largest, "logpGap.mean": means(4e-5) }), ["gap"]);
  assert.deepEqual(found({ logpGap: largest, "logpGap.mean": means(6e-6) }), []);
  assert.deepEqual(found({ "klPenalty.kl": steady(20, 0.8) }), ["drift"]);
  assert.deepEqual(found({ gradientNorm: curve(...Array<number>(29).fill(1), 500) }), ["gradient"]);
  assert.deepEqual(found({ gradientNorm: curve(...Array<number>(29).fill(1), Number.NaN) }), ["gradient"]);
});

test("preferred replies that become less likely than where the run began", () => {
  const falls = (to: number) => ({
    "pairwise.chosen": curve(...Array.from({ length: 20 }, (_, i) => -(to * i) / 19)),
  });
  assert.deepEqual(found(falls(4)), ["preferred"]);
  assert.deepEqual(found(falls(0.4)), []);
  assert.deepEqual(found(falls(-4)), []);
  // batches differ by more than that
  const noisy = (length: number) => curve(...Array.from({ length }, (_, i) => 0.6 * Math.sin(7 * i)));
  for (const length of [20, 100, 300]) assert.deepEqual(found({ "pairwise.chosen": noisy(length) }), []);
});

test("what was found of the environment comes first, as it was found", () => {
  const finding = {
    check: "splits",
    severity: "error",
    problem: "All are trained on.",
    fix: "Part them.",
  } as const;
  const report = look({ turns: curve(0) }, { findings: [finding] });
  assert.deepEqual(report.findings[0], { ...finding, check: "environment" });
  assert.equal(report.findings[1]?.check, "actions");
});

test("every check says whether it passed, found something, or had nothing to look at", () => {
  const learning = curve(...Array.from({ length: 40 }, (_, i) => i / 40));
  const healthy = {
    reward: learning,
    success: learning,
    entropy: steady(40, 0.3),
    logpGap: steady(40, 1e-6),
  };
  const report = look(healthy, { evaluations: [evaluated("before", 0, 20), evaluated("after", 40, 150)] });
  assert.deepEqual(report.findings, []);
  const states = Object.groupBy(report.checks, ({ state }) => state);
  assert.deepEqual(
    states.passed?.map(({ check }) => check),
    ["environment", "rewarded", "headroom", "learnt", "opposed", "success", "entropy", "reward", "gap"],
  );
  assert.deepEqual(
    states["not measured"]?.map(({ check }) => check),
    [
      ...["failures", "actions", "truncated", "collapse", "proposals", "labels", "validation", "groups"],
      ...["gradient", "drift", "preferred", "watch", "stale"],
    ],
  );
});

/** From one value to another within ten iterations, and then steady. */
const moved = (from: number, to: number) =>
  curve(...Array.from({ length: 30 }, (_, i) => (i < 10 ? from : to)));

test("answers that become alike are pointed out where success stayed low, and not where it rose or is high", () => {
  const alike = { "diversity.answers": moved(0.5, 0.02) };
  const [finding] = look({ ...alike, success: moved(0.35, 0.3) }).findings;
  assert.equal(finding?.check, "collapse");
  assert.equal(finding.severity, "warning");
  assert.match(finding.problem, /0\.5 at first, 0\.02 of late\), while success is 30 % \(35 % at first\)/);
  assert.deepEqual(found({ ...alike, success: moved(0.35, 0.6) }), []);
  assert.deepEqual(found({ ...alike, success: steady(30, 0.95) }), []);
  assert.deepEqual(found({ "diversity.answers": moved(0.5, 0.3), success: steady(30, 0.3) }), []);
  // answers that were alike from the start are another matter
  assert.deepEqual(found({ "diversity.answers": moved(0.05, 0), success: steady(30, 0.3) }), []);
});

test("a collapse that the watch saw is an error, and is reported once", () => {
  const watch = { "watch.paid": moved(0.5, 0.9), "watch.audit": moved(0.35, 0.3) };
  const raised = {
    "watch.alarm": moved(0, 1),
    "watch.collapse": moved(0, 1),
    "watch.noise": moved(0.6, 0.65),
  };
  const { findings } = look({
    ...{ ...watch, ...raised },
    ...{ "diversity.answers": moved(0.5, 0.2), success: moved(0.35, 0.5) },
  });
  assert.deepEqual(
    findings.map(({ check, severity }) => [check, severity]),
    [["collapse", "error"]],
  );
  assert.match(findings[0]!.problem, /65 % of the rewards are wrong by the audits/);
});

test("proposals that become alike, labels that get worse, and a validation below its best are pointed out", () => {
  assert.deepEqual(found({ "diversity.proposals": moved(0.8, 0.3) }), ["proposals"]);
  assert.deepEqual(found({ "diversity.proposals": moved(0.8, 0.5) }), []);
  assert.deepEqual(found({ "watch.noise": moved(0.1, 0.4) }), ["labels"]);
  assert.deepEqual(found({ "watch.noise": moved(0.5, 0.4) }), []);
  assert.deepEqual(found({ "watch.noise": moved(0.05, 0.18) }), []);
  const during = (...wins: readonly number[]) => ({
    evaluations: wins.map((won, i) => evaluated("during", 10 * i, won)),
  });
  const [finding] = look({}, during(80, 140, 90)).findings.filter(({ check }) => check === "validation");
  assert.match(finding?.problem ?? "", /was 70 % after 10 iterations and is 45 % after 20/);
  assert.deepEqual([finding?.from, finding?.until], [10, 20]);
  assert.ok(!found({}, during(80, 140, 135)).includes("validation"));
});

test("an alarm of the watch is pointed out with what rose and what fell; a watch without one passed", () => {
  const watch = {
    "watch.paid": curve(...Array.from({ length: 20 }, (_, i) => i / 10)),
    "watch.audit": curve(...Array.from({ length: 20 }, (_, i) => 1 - i / 20)),
  };
  const calm = look({ ...watch, "watch.alarm": steady(20, 0) });
  assert.deepEqual(calm.findings, []);
  assert.equal(calm.checks.find(({ check }) => check === "watch")?.state, "passed");
  const alarm = curve(...Array.from({ length: 20 }, (_, i) => Number(i >= 15)));
  const [finding] = look({ ...watch, "watch.alarm": alarm }).findings;
  assert.equal(finding?.check, "watch");
  assert.equal(finding.severity, "error");
  // first and last five: paid 0.2 and 1.7, audits 0.9 and 0.15
  assert.match(
    finding.problem,
    /iteration 16: what is paid went from 0\.2 to 1\.7, audits from 0\.9 to 0\.15/,
  );
});

test("gaps in a curve are left out", () => {
  const value = Array.from({ length: 40 }, (_, i) => (i % 2 ? Number.NaN : 0.5));
  assert.deepEqual(found({ truncated: curve(...value) }), ["truncated"]);
});
