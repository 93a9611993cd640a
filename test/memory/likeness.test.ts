import assert from "node:assert/strict";
import { test } from "node:test";
import { applyArtefact } from "../../src/common/artefacts/applyArtefact.ts";
import type { CaseMemory } from "../../src/core/artefact.ts";
import { likeness } from "../../src/memory/likeness.ts";

test("texts that share a stem are alike, others not at all", () => {
  const [alike, unlike] = likeness()("printers jammed again", ["the printer jams", "my refund is late"]);
  assert.ok(alike! > 0.15, `${alike}`);
  assert.equal(unlike, 0);
});

test("an artefact applied with it shows the case that is alike and leaves out the other", () => {
  const origins = {
    by: "person",
    from: { sessions: [], users: [], responses: [], signals: [] },
    trajectories: [],
  };
  const cases: CaseMemory = {
    kind: "cases",
    cases: [
      { id: "late", situation: "my refund is late", plan: "look it up", success: true, origins },
      { id: "jam", situation: "the printer jams", plan: "use the rear tray", success: true, origins },
    ],
  };
  const asked = [{ role: "user", content: "printers jammed again" }] as const;
  assert.deepEqual(applyArtefact(cases, asked, { rank: likeness() }).shown, ["jam"]);
});
