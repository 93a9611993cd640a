import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { writtenBy } from "../../src/common/artefacts/origins.ts";
import type { Chat } from "../../src/core/chat.ts";
import { WhetstoneError } from "../../src/core/errors.ts";
import { chatEngine } from "../../src/engine/chat/engine.ts";
import { method } from "../../src/method/method.ts";
import { multiTurn } from "../../src/rollout/multiTurn.ts";
import { openRunStore } from "../../src/store/runStore.ts";
import { train } from "../../src/train/run.ts";
import { keyDoor } from "../../src/worlds/keyDoor.ts";
import { withCode } from "./world.ts";

const folder = mkdtempSync(join(tmpdir(), "whetstone-told-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A model that does right once it is told how; it is paid by the call, up to a limit, and repeats for nothing what it said. */
function obedient(limit: { calls: number }) {
  const said = new Map<string, string>();
  let [calls, cachedCalls] = [0, 0];
  const chat: Chat = {
    id: "obedient",
    async reply({ messages, seed }) {
      const key = JSON.stringify([messages, seed]);
      const known = said.get(key);
      if (known !== undefined) cachedCalls++;
      else if (calls >= limit.calls) {
        const left = { where: "limit", got: "none", expected: "some", fix: "Raise it." };
        throw new WhetstoneError("budget.spent", left);
      } else calls++;
      const seen = messages.at(-1)?.content ?? "";
      const told = messages[0]?.content.includes("Take the key first.") === true;
      const content = known ?? (told ? byTheBook(seen) : "wave");
      said.set(key, content);
      return {
        message: { role: "assistant", content },
        stop: "eos",
        tokens: { input: 1, output: 1 },
        cached: known !== undefined,
      };
    },
    ask: async () => undefined,
    spent: () => ({ calls, cachedCalls, inputTokens: calls, outputTokens: calls, usd: 0 }),
  };
  return chat;
}

function byTheBook(seen: string): string {
  if (seen === "cell 0 key no") return "pick";
  if (seen.endsWith("no")) return "left";
  return seen.startsWith("cell 3") ? "open" : "right";
}

/** Proposes in its second iteration what helps. */
const teacher = method({
  id: "teacher",
  family: "memory",
  summary: "tells what helps",
  weightFree: true,
  slots: {
    annotate: [],
    credit: [],
    advantage: [],
    objective: [],
    rollout: multiTurn({ groupSize: 1 }),
    update: async (ctx) => {
      const system = ctx.clock.iteration === 0 ? "Be kind." : "Take the key first.";
      const before = ctx.artefacts.current();
      const origins = writtenBy("reflection");
      const made = ctx.artefacts.propose({
        name: "told",
        artefact: { kind: "instructions", system, tools: {}, examples: [], origins },
        parents: before ? [before.id] : [],
        why: `iteration ${ctx.clock.iteration}`,
        origins,
      });
      if ("id" in made) ctx.artefacts.adopt(made.id);
      return { steps: 0 };
    },
  },
});
const options = (chat: Chat, out: string) => ({
  environment: keyDoor(),
  method: teacher.build({ tasks: 2 }),
  engine: chatEngine(chat),
  iterations: 3,
  out: join(folder, out),
  store: join(folder, `${out}.sqlite`),
  checkpointSeconds: 0,
  evaluation: { tasks: 4 },
});
const never = new AbortController().signal;

test("a run without weights: what it told is in the store with its lineage and success, and in a folder to edit", async () => {
  const events: { type: string; metrics?: Readonly<Record<string, number>> }[] = [];
  const done = await train(options(obedient({ calls: 1e6 }), "free"), (e) => events.push(e), never);
  assert.equal(done.success.mean, 1);
  assert.ok(done.before.every(({ success }) => success.mean === 0));
  assert.equal(readFileSync(join(done.artefact ?? "", "system.md"), "utf8"), "Take the key first.\n");
  const spent = events.findLast(({ type }) => type === "iteration")?.metrics;
  assert.ok((spent?.["spent.calls"] ?? 0) > 0);
  const store = await openRunStore(join(folder, "free.sqlite"));
  const [first, second] = await store.artefacts.list();
  assert.deepEqual([first?.why, second?.why, second?.parents], ["iteration 0", "iteration 1", [first?.id]]);
  const measures = await store.artefacts.measures();
  assert.deepEqual(
    measures.map(({ artefact, where, success }) => [artefact, where, success.mean]),
    [[second?.id, "key-door/test", 1]],
  );
  await store.close();
});

test("a run whose budget is spent is saved, and goes on to the same end without paying twice", async () => {
  const whole = obedient({ calls: 1e6 });
  const wanted = await train(options(whole, "whole"), () => {}, never);
  const limit = { calls: Math.floor(whole.spent().calls / 2) };
  const chat = obedient(limit);
  const begun = options(chat, "cut");
  const states: string[] = [];
  await assert.rejects(
    train(begun, (e) => states.push(e.type), never),
    withCode("budget.spent"),
  );
  assert.equal(states.at(-1), "interrupted");
  limit.calls = 1e6;
  const done = await train({ ...begun, resume: true }, () => {}, never);
  assert.deepEqual(done.success, wanted.success);
  assert.equal(chat.spent().calls, whole.spent().calls);
});
