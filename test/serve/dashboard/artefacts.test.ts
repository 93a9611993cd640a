import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writtenBy } from "../../../src/common/artefacts/origins.ts";
import {
  type ArtefactVersion,
  artefactVersion,
  type BehaviourTree,
  type Origins,
} from "../../../src/core/artefact.ts";
import { artefactRoutes } from "../../../src/serve/dashboard/artefacts.ts";
import type { ArtefactDetail, ArtefactsPage } from "../../../src/serve/dashboard/types.ts";
import { openTrafficStore } from "../../../src/store/openTrafficStore.ts";
import { openRunStore } from "../../../src/store/runStore.ts";
import { served, signal } from "../../store/served.ts";
import { run, trajectory } from "./world.ts";

/** The routes over a real database, in which runs and production are together. */
async function world(t: { after(work: () => Promise<void>): void }) {
  const folder = mkdtempSync(join(tmpdir(), "artefacts-"));
  const file = join(folder, "whetstone.sqlite");
  const [store, production] = [await openRunStore(file), await openTrafficStore(file)];
  t.after(async () => {
    await production.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const routes = artefactRoutes({ store, production });
  const get = async <T>(path: string): Promise<T> => {
    const answer = await routes.request(path);
    assert.equal(answer.status, 200);
    const body: T = JSON.parse(await answer.text());
    return body;
  };
  return { store, production, get, routes };
}

let clock = 0;
const told = (
  system: string,
  parents: readonly string[],
  origins: Origins = writtenBy("person"),
): ArtefactVersion =>
  artefactVersion({
    name: "support",
    artefact: { kind: "instructions", system, tools: {}, examples: [], origins },
    parents,
    why: `to say ${system}`,
    origins,
    created: clock++,
  });

test("each version once, with how much it came from, what it did to success, and who answers with it", async (t) => {
  const { production, get } = await world(t);
  assert.deepEqual(await get("/"), { artefacts: [], total: 0 });
  const first = told("a", []);
  const second = told("b", [first.id], {
    by: "feedback",
    from: { sessions: ["s"], users: ["u"], responses: ["x", "y"], signals: ["1", "2"] },
    trajectories: ["0/t/0"],
  });
  for (const version of [first, second]) await production.artefacts.add(version);
  const success = { mean: 1, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY, n: 1 };
  await production.artefacts.measure({
    id: "m",
    artefact: second.id,
    where: "facts/test",
    run: "r",
    success,
    at: 5,
  });
  const backend = { kind: "artefact", artefact: second.id, over: "base" } as const;
  for (const id of ["v", "w"])
    await production.addVersion({ id, name: `name of ${id}`, backend, created: 0 });
  await production.addSplit({
    id: "h",
    shares: { v: 0.25, base: 0.75 },
    unit: "session",
    since: 7,
    why: "try",
  });
  const { artefacts, total } = await get<ArtefactsPage>("/");
  assert.equal(total, 2);
  assert.deepEqual(
    artefacts.map(({ id, is, by, from }) => [id, is, by, from]),
    [
      [first.id, "instruction set", "person", { signals: 0, sessions: 0, episodes: 0 }],
      [second.id, "instruction set", "feedback", { signals: 2, sessions: 1, episodes: 1 }],
    ],
  );
  // an interval without ends has none in JSON either
  assert.deepEqual(artefacts[1]?.success, [
    { where: "facts/test", run: "r", success: { mean: 1, low: null, high: null, n: 1 }, at: 5 },
  ]);
  assert.deepEqual(artefacts[1]?.served, [
    { version: "v", name: "name of v", share: 0.25 },
    { version: "w", name: "name of w" },
  ]);
  const { splits } = await get<ArtefactDetail>(`/${second.id}`);
  assert.deepEqual(splits, [{ since: 7, shares: [{ version: "v", share: 0.25 }], why: "try" }]);
});

test("one version: what changed against each parent, and the feedback and episodes that it came from", async (t) => {
  const { production, store, get } = await world(t);
  await production.write([
    { kind: "response", response: served("s", 0, { user: "ann" }) },
    { kind: "signal", signal: signal("said", { user: "ann", about: [{ session: "s" }] }) },
    { kind: "signal", signal: signal("other", { user: "ann", about: [{ session: "s" }] }) },
  ]);
  await store.startRun(run("r"));
  await store.saveIteration("r", 3, {
    metrics: {},
    trajectories: [{ trajectory: trajectory("3/t/0"), phase: "train" }],
  });
  const [one, two] = [told("first\nstays", []), told("second\nstays", [])];
  const both = told("third\nstays", [one.id, two.id, "elsewhere"], {
    by: "merging",
    from: { sessions: ["s"], users: ["ann"], responses: [], signals: ["said", "gone"] },
    trajectories: ["3/t/0", "3/t/9"],
  });
  const apart = told("nobody's", []);
  for (const version of [one, two, both, apart]) await production.artefacts.add(version);
  const success = { mean: 0.5, low: 0.4, high: 0.6, n: 10 };
  await production.artefacts.measure({
    id: "m",
    artefact: one.id,
    where: "facts/test",
    run: "r",
    success,
    at: 5,
  });
  const detail = await get<ArtefactDetail>(`/${both.id}`);
  assert.deepEqual(
    detail.changes.map(({ before, parts }) => [
      before,
      parts.map(({ kind, title, lines }) => [
        kind,
        title,
        lines.map((line) => (line.kind === "left out" ? line.lines : `${line.kind} ${line.text}`)),
      ]),
    ]),
    [
      [one.id, [["changed", "System message", ["removed first", "added third", "same stays"]]]],
      [two.id, [["changed", "System message", ["removed second", "added third", "same stays"]]]],
    ],
  );
  assert.deepEqual(
    detail.feedback.map(({ signal: { id }, session }) => [id, session]),
    [["said", "s"]],
  );
  assert.deepEqual(detail.episodes, [
    { id: "3/t/0", at: { run: "r", phase: "train", iteration: 3 } },
    { id: "3/t/9" },
  ]);
  // all that it is related to, and nothing else
  assert.deepEqual(
    detail.lineage.map(({ id }) => id),
    [one.id, two.id, both.id],
  );
  assert.deepEqual(
    detail.contents.map(({ title, text }) => `${title}: ${text}`),
    ["System message: third\nstays"],
  );
});

test("one that is not there is told so", async (t) => {
  const { routes } = await world(t);
  const answer = await routes.request("/none");
  assert.deepEqual([answer.status, await answer.text()], [404, "There is no artefact none here."]);
});

test("rubrics of a judge and behaviour trees are pages like others: what they are, part by part, and line by line", async (t) => {
  const { store, get } = await world(t);
  const origins = writtenBy("reflection");
  const tree = (text: string): BehaviourTree => {
    return { kind: "tree", tree: text, facts: ["tired"], skills: ["rest", "run"], idle: "rest", origins };
  };
  const about = { parents: [], why: "a try", origins };
  const before = artefactVersion({ ...about, name: "tree", artefact: tree("do run"), created: 1 });
  const after = artefactVersion({
    ...about,
    name: "tree",
    artefact: tree("selector\n  sequence\n    if tired\n    do rest\n  do run"),
    parents: [before.id],
    created: 2,
  });
  const rubrics = [{ id: "short", kind: "skill", text: "Short replies are better." }] as const;
  const judge = artefactVersion({
    ...about,
    name: "rubrics",
    artefact: { kind: "rubrics", rubrics, origins },
    created: 3,
  });
  for (const version of [before, after, judge]) await store.artefacts.add(version);
  const { artefacts } = await get<ArtefactsPage>("/");
  assert.deepEqual(
    artefacts.map(({ is, parts }) => [is, parts]),
    [
      ["behaviour tree", 0],
      ["behaviour tree", 0],
      ["rubrics of a judge", 1],
    ],
  );
  const { changes } = await get<ArtefactDetail>(`/${after.id}`);
  const [change, ...more] = changes[0]?.parts ?? [];
  assert.deepEqual([change?.kind, change?.title, more], ["changed", "Tree", []]);
  const { contents } = await get<ArtefactDetail>(`/${judge.id}`);
  assert.deepEqual(
    contents.map(({ title, text }) => [title, text]),
    [["Criterion", "Short replies are better."]],
  );
});
