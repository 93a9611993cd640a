/** Self-training on one's own majority: where it is mostly wrong the run says so and is ended; where it is right, or labels are, it is not. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { rumourRun } from "../../src/worlds/arms/rumours.ts";
import { folder } from "./world.ts";

const watch = { audit: "environment", audits: 64 } as const;
const checksOf = ({ summary }: Awaited<ReturnType<typeof rumourRun>>): string[] =>
  summary.health.findings.map(({ check }) => check);

test("a run that is led astray is ended, with better weights than it would end with, and says why", async () => {
  const out = folder();
  const on = await rumourRun("led astray", 901, { out: join(out, "on") });
  assert.ok(checksOf(on).includes("collapse"), checksOf(on).join());
  assert.equal(on.summary.iterations, 48);
  const ended = await rumourRun("led astray", 901, { out: join(out, "ended"), watch });
  assert.ok(ended.summary.iterations < 48);
  assert.ok(ended.accuracy > on.accuracy, `${ended.accuracy} and ${on.accuracy}`);
  const finding = ended.summary.health.findings.find(({ check }) => check === "collapse");
  assert.match(finding?.problem ?? "", /have become alike .* rewards are wrong by the audits/);
  assert.equal(finding?.severity, "error");
});

test("a run whose majority is right, and one with true labels, are left alone", async () => {
  const out = folder();
  for (const kind of ["mostly right", "labelled"] as const) {
    const run = await rumourRun(kind, 902, { out: join(out, kind.replace(" ", "-")), watch });
    assert.equal(run.summary.iterations, 48);
    assert.ok(
      !checksOf(run).some((check) => check === "collapse" || check === "watch"),
      checksOf(run).join(),
    );
    assert.ok(run.accuracy > 0.9, `${kind}: ${run.accuracy}`);
  }
});
